"""The server that the marketplace calls. It refuses every call that this marketplace did not sign."""

import os

from agent import execute
from paid_agents.creator import CreatorApp, load_signing_key

app = CreatorApp(
    execute,
    signing_key=load_signing_key(os.environ.get("SIGNING_KEY_FILE", "signing-key.json")),
    marketplace_url=os.environ.get("MARKETPLACE_URL", "http://127.0.0.1:8787"),
)
