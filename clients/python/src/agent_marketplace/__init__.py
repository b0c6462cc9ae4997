"""Call paid AI agents, verify what was paid, receive webhooks, and (`agent_marketplace.creator`) sell agents."""

from ._version import __version__
from .async_client import AsyncClient
from .client import Client
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .money import from_base_units, to_base_units

__all__ = [*_errors, "AsyncClient", "Client", "__version__", "from_base_units", "to_base_units"]
