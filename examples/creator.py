"""The agent of agent.json in Python: it sells the most frequent words of a text.

    pip install -r examples/requirements.txt
    python3 examples/creator.py SIGNING_KEY_FILE PORT [MARKETPLACE_URL]

With MARKETPLACE_URL it refuses every call that this marketplace did not sign, as a creator should. It needs only
`cryptography` beside the standard library, and follows "The protocol" of docs/creators.md.
"""

import json, re, sys, time, unicodedata, urllib.request
from base64 import b64decode, b64encode, urlsafe_b64decode
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MAX_BODY_BYTES = 8 * 1024 * 1024
MOST_ANSWERS = 10_000
CLOCK_SKEW_SECONDS = 60
COVERED = ["@method", "@authority", "@path", "content-type", "content-digest"]
COVERED += ["marketplace-signing-key", "marketplace-purpose"]
LIST = " ".join(f'"{name}"' for name in COVERED)
PARAMETERS = r';created=(\d+);expires=(\d+);nonce="[\w-]+";keyid="([\w-]+)";alg="ed25519";tag="agent-marketplace-call"'
SIGNATURE_INPUT = re.compile(rf"sig1=(\({LIST}\){PARAMETERS})")
SIGNATURE = re.compile(r"sig1=:([A-Za-z0-9+/]{86}==):")


def work(task: str, parameters: dict) -> str:
    """The work that callers pay for. A ValueError is a failure: the caller reads its text and gets the price back."""
    text = unicodedata.normalize("NFC", parameters["text"]).lower()
    found = "".join(letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in text).split()
    words = Counter(found).most_common(parameters.get("top", 10))
    if not words:
        raise ValueError("the text has no words")
    return json.dumps({"words": [{"word": word, "count": count} for word, count in words]})


def base58(data: bytes) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def failed(execution_id: str, error: str) -> bytes:
    nothing = {"result": None, "result_hash": None, "signature": None}
    return json.dumps({"execution_id": execution_id, "status": "failed", **nothing, "error": error}).encode()


def make_answer(execution_id: str, task: str, parameters: dict) -> bytes:
    """The signed answer, or the failure."""
    try:
        result = work(task, parameters)
        result_hash = "sha256:" + sha256(result.encode()).hexdigest()
    except ValueError as error:
        return failed(execution_id, str(error))
    except Exception as error:
        print(f"execution {execution_id} failed: {error!r}", file=sys.stderr)
        return failed(execution_id, "the agent failed with an internal error")
    signature = "ed25519:" + base58(signing_key.sign(result_hash.encode()))
    completed = {"status": "completed", "result": result, "result_hash": result_hash, "signature": signature}
    return json.dumps({"execution_id": execution_id, **completed}).encode()


workers = ThreadPoolExecutor(16)
answers: dict[str, Future] = {}
lock = Lock()


def answer(call: dict) -> bytes:
    """Works once for each execution: a retry waits for the same answer. Fails shortly before the deadline."""
    execution_id, task, parameters = call["execution_id"], call["task"], call.get("parameters", {})
    with lock:
        if execution_id not in answers:
            if len(answers) == MOST_ANSWERS:
                del answers[next(iter(answers))]  # The oldest.
            answers[execution_id] = workers.submit(make_answer, execution_id, task, parameters)
        future = answers[execution_id]
    try:
        return future.result(0.9 * call["timeout_seconds"])
    except TimeoutError:
        return failed(execution_id, "not finished in time")


class MarketplaceKeys:
    """The keys that the marketplace publishes. An unknown key causes a new read, at most once a minute."""

    def __init__(self, marketplace_url: str):
        self.url = marketplace_url.rstrip("/") + "/.well-known/http-message-signatures-directory"
        self.keys, self.read_at = {}, float("-inf")

    def find(self, key_id: str) -> Ed25519PublicKey | None:
        age = time.monotonic() - self.read_at
        if age > 600 or (age > 60 and key_id not in self.keys):
            listed = json.load(urllib.request.urlopen(self.url, timeout=10))["keys"]
            read = Ed25519PublicKey.from_public_bytes
            self.keys = {key["kid"]: read(urlsafe_b64decode(key["x"] + "=")) for key in listed}
            self.read_at = time.monotonic()
        return self.keys.get(key_id)


def is_signed(headers, path: str, body: bytes) -> bool:
    """True if the marketplace signed this call. Raises an error if its keys cannot be read now."""
    stated = SIGNATURE_INPUT.fullmatch(headers.get("signature-input", ""))
    signature = SIGNATURE.fullmatch(headers.get("signature", ""))
    digest = f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
    if not stated or not signature or headers.get("content-digest") != digest:
        return False
    parameters, created, expires, key_id = stated.groups()
    if not int(created) - CLOCK_SKEW_SECONDS <= time.time() <= int(expires) + CLOCK_SKEW_SECONDS:
        return False
    key = keys.find(key_id)
    if key is None:
        return False
    own = {"@method": "POST", "@authority": headers.get("host", "").lower(), "@path": path.split("?")[0]}
    lines = [f'"{name}": {own.get(name) or headers.get(name, "").strip()}' for name in COVERED]
    signed = "\n".join([*lines, f'"@signature-params": {parameters}'])
    try:
        key.verify(b64decode(signature[1]), signed.encode())
    except InvalidSignature:
        return False
    return True


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
        try:
            if keys and not is_signed(self.headers, self.path, body):
                return self.reply(401, b"{}")
        except (OSError, LookupError, ValueError):  # The keys cannot be read now: after a 503 the marketplace tries again.
            return self.reply(503, b"{}")
        try:
            call = json.loads(body)
            wanted = self.headers.get("marketplace-signing-key", public_key)
            unknown = wanted != public_key and failed(call["execution_id"], f"this server does not have the key {wanted}")
            made = unknown or answer(call)
        except (LookupError, TypeError, ValueError):
            return self.reply(400, b"{}")
        self.reply(200, made)

    def reply(self, status: int, body: bytes):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


key_file, port, *marketplace = sys.argv[1:]
pair = bytes(json.load(open(key_file, encoding="utf-8-sig")))  # 64 bytes: the seed, then the public key.
signing_key, public_key = Ed25519PrivateKey.from_private_bytes(pair[:32]), base58(pair[32:])
keys = MarketplaceKeys(marketplace[0]) if marketplace else None
server = ThreadingHTTPServer(("127.0.0.1", int(port)), Agent)
print(f"Answering on http://127.0.0.1:{server.server_port}/execute", flush=True)
server.serve_forever()
