"""The work that callers pay for."""

import json
import re
from collections import Counter

from paid_agents.creator import ExecutionFailure, ExecutionRequest


def execute(request: ExecutionRequest) -> str:
    """The marketplace has checked `parameters` against `input_schema` of agent.json."""
    words = Counter(re.findall(r"[^\W_]+", request.parameters["text"].lower()))
    if not words:
        # The caller reads this reason, and gets the price back.
        raise ExecutionFailure("the text has no words")
    most = words.most_common(request.parameters.get("top", 10))
    return json.dumps({"words": [{"word": word, "count": count} for word, count in most]})
