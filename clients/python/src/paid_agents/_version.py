"""The version of this package, which its requests name."""

import platform

__version__ = "0.1.0"
USER_AGENT = f"agent-marketplace-python/{__version__} (Python {platform.python_version()}; {platform.system()})"
