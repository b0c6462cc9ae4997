"""Creates, changes and deletes a webhook endpoint, and receives the marketplace's webhooks.

MARKETPLACE_API_KEY has the scope `webhooks`. ANOTHER_API_KEY, of the same wallet, does not.
"""

import asyncio
import os
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from paid_agents import AsyncClient, NotFoundError, PermissionDeniedError
from paid_agents.models import ScopeDetails
from paid_agents.webhooks import WebhookDelivery, WebhookVerificationError, verify_webhook

PATIENCE_SECONDS = 240
received: list[tuple[bytes, dict[str, str]]] = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        received.append((self.rfile.read(int(self.headers["content-length"])), dict(self.headers)))
        self.send_response(202)
        self.end_headers()
        self.wfile.write(b"thanks")

    def log_message(self, format: str, *args: Any) -> None:
        pass


async def all_of(listing: Any) -> list[Any]:
    return [item async for item in listing]


async def raised(kind: type[Exception], work: Any) -> Any:
    try:
        await work()
    except kind as error:
        return error
    raise AssertionError(f"it must raise {kind.__name__}")


async def delivered(client: AsyncClient, endpoint_id: str, count: int) -> list[WebhookDelivery]:
    """Waits until there are `count` deliveries and all have arrived. Returns them, newest first."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        found = await all_of(client.webhooks.deliveries(endpoint_id))
        if len(found) == count and all(one.status == "delivered" for one in found):
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{count} deliveries did not arrive")


async def live(client: AsyncClient, other: AsyncClient, url: str) -> None:
    webhooks = client.webhooks
    made = await webhooks.create(url, event_types=["execution.completed"])
    endpoint, secret = made.endpoint, made.secret
    one = endpoint.endpoint_id
    assert (endpoint.url, endpoint.event_types, endpoint.status) == (url, ["execution.completed"], "active")
    assert secret.startswith("whsec_") and secret not in repr(made)
    assert await webhooks.retrieve(one) == endpoint
    assert await webhooks.list() == [endpoint]

    assert await webhooks.test(one) is None
    [first] = await delivered(client, one, 1)
    assert (first.event_type, first.http_status, first.body, first.error) == ("webhook.test", 202, "thanks", None)
    assert (first.endpoint_id, first.execution_id, first.attempts, first.next_attempt_at) == (one, None, 1, None)
    event = verify_webhook(*received[-1], secret)
    assert (event.id, event.type, event.data) == (first.event_id, "webhook.test", {"endpoint_id": one})

    rotated = await webhooks.rotate_secret(one)
    assert rotated.secret != secret and rotated.endpoint.old_secret_until > datetime.now(timezone.utc)
    again = await webhooks.redeliver(first.delivery_id)
    assert (again.event_id, again.status, again.attempts) == (first.event_id, "pending", 0)
    second, _ = await delivered(client, one, 2)
    assert second.delivery_id == again.delivery_id != first.delivery_id
    for either in (secret, rotated.secret):
        assert verify_webhook(*received[-1], either) == event
    await raised(WebhookVerificationError, lambda: verify_webhook(*received[0], rotated.secret))
    assert await all_of(webhooks.deliveries(one, limit=1)) == [second, first]
    assert await all_of(webhooks.deliveries(one, offset=1)) == [first]

    changed = await webhooks.update(one, url=f"{url}/2", event_types=[])
    assert (changed.url, changed.event_types, changed.status) == (f"{url}/2", [], "active")
    stopped = await webhooks.update(one, enabled=False)
    assert (stopped.url, stopped.status, stopped.disabled_by) == (f"{url}/2", "disabled", "wallet")
    assert (await webhooks.update(one, enabled=True)).status == "active"

    refusal = await raised(PermissionDeniedError, other.webhooks.list)
    assert isinstance(refusal.details, ScopeDetails) and refusal.details.needs == "webhooks"
    assert await webhooks.delete(one) is None
    assert await webhooks.list() == []
    assert (await raised(NotFoundError, lambda: webhooks.retrieve(one))).code == "webhook_not_found"


async def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=server.serve_forever, daemon=True).start()
    async with AsyncClient() as client, AsyncClient(api_key=os.environ["ANOTHER_API_KEY"]) as other:
        await live(client, other, f"http://127.0.0.1:{server.server_port}/hook")
    server.shutdown()


asyncio.run(main())
