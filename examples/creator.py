"""The agent of agent.json in Python: it sells the most frequent words of a text.

    pip install -r examples/requirements.txt
    python3 examples/creator.py SIGNING_KEY_FILE PORT [MARKETPLACE_URL]

With MARKETPLACE_URL it refuses every call that this marketplace did not sign (RFC 9421), as a creator should.
"""

import hashlib, json, sys, time, unicodedata, urllib.request
from base64 import urlsafe_b64decode
from collections import Counter
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import base58
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_message_signatures import HTTPMessageSignaturesException, HTTPMessageVerifier
from http_message_signatures import HTTPSignatureKeyResolver, algorithms

COVERED = ("@method", "@authority", "@path", "content-type", "content-digest")
MAX_BODY_BYTES = 8 * 1024 * 1024


def work(task: str, parameters: dict) -> str:
    """The work that callers pay for. A ValueError is a failure: the caller reads its text and gets the price back."""
    text = unicodedata.normalize("NFC", parameters["text"]).lower()
    found = "".join(letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in text).split()
    words = Counter(found).most_common(parameters.get("top", 10))
    if not words:
        raise ValueError("the text has no words")
    return json.dumps({"words": [{"word": word, "count": count} for word, count in words]})


@lru_cache(maxsize=10_000)
def answer(execution_id: str, task: str, parameters: str) -> bytes:
    """The signed answer. A call that is retried after a lost connection gets the same answer from the cache."""
    try:
        result = work(task, json.loads(parameters))
    except ValueError as error:
        failed = {"status": "failed", "result": None, "result_hash": None, "signature": None, "error": str(error)}
        return json.dumps({"execution_id": execution_id, **failed}).encode()
    result_hash = "sha256:" + hashlib.sha256(result.encode()).hexdigest()
    signature = "ed25519:" + base58.b58encode(signing_key.sign(result_hash.encode())).decode()
    completed = {"status": "completed", "result": result, "result_hash": result_hash, "signature": signature}
    return json.dumps({"execution_id": execution_id, **completed}).encode()


class MarketplaceKeys(HTTPSignatureKeyResolver):
    """The keys that the marketplace publishes. An unknown key causes a new read, at most once a minute."""

    def __init__(self, marketplace_url: str):
        self.url = marketplace_url.rstrip("/") + "/.well-known/http-message-signatures-directory"
        self.keys, self.read_at = {}, float("-inf")

    def resolve_public_key(self, key_id: str):
        if key_id not in self.keys and time.monotonic() - self.read_at > 60:
            listed = json.load(urllib.request.urlopen(self.url, timeout=10))["keys"]
            read = Ed25519PublicKey.from_public_bytes
            self.keys = {key["kid"]: read(urlsafe_b64decode(key["x"] + "=")) for key in listed}
            self.read_at = time.monotonic()
        return self.keys.get(key_id)


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return self.reply(413, b"{}")
        body = self.rfile.read(length)
        if self.path != "/execute":
            return self.reply(404, b"{}")
        if verifier:
            message = SimpleNamespace(method="POST", url=f"https://{self.headers['host']}{self.path}", headers=self.headers)
            try:
                verifier.verify(message, expect_tag="agent-marketplace-call", require_components=COVERED, body=body)
            except HTTPMessageSignaturesException:
                return self.reply(401, b"{}")
            except OSError:  # the keys cannot be read now: after a 503 the marketplace tries again
                return self.reply(503, b"{}")
        call = json.loads(body)
        self.reply(200, answer(call["execution_id"], call["task"], json.dumps(call.get("parameters", {}))))

    def reply(self, status: int, body: bytes):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


key_file, port, *marketplace = sys.argv[1:]
signing_key = Ed25519PrivateKey.from_private_bytes(bytes(json.load(open(key_file)))[:32])
verifier = marketplace and HTTPMessageVerifier(
    signature_algorithm=algorithms.ED25519, key_resolver=MarketplaceKeys(marketplace[0])
)
server = ThreadingHTTPServer(("127.0.0.1", int(port)), Agent)
print(f"Answering on http://127.0.0.1:{server.server_port}/execute", flush=True)
server.serve_forever()
