"""A creator's server as an ASGI app: mount it in FastAPI or Starlette, or run it by itself with uvicorn."""

from ._request import CallPurpose, ExecutionRequest
from ._signing_key import generate_signing_key, load_signing_key, save_signing_key, signing_key_address
from .app import CreatorApp, ExecutionFailure, ExecutionOutput, Limits

__all__ = [
    "CallPurpose",
    "CreatorApp",
    "ExecutionFailure",
    "ExecutionOutput",
    "ExecutionRequest",
    "Limits",
    "generate_signing_key",
    "load_signing_key",
    "save_signing_key",
    "signing_key_address",
]
