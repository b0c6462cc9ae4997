"""The work that callers pay for."""

import json
import unicodedata
from collections import Counter

from paid_agents.creator import ExecutionFailure, ExecutionRequest


def execute(request: ExecutionRequest) -> str:
    """The marketplace has checked `parameters` against `input_schema` of agent.json."""
    # Marks belong to their letters, and one text may write é in two ways.
    text = unicodedata.normalize("NFC", request.parameters["text"]).lower()
    words = Counter("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text).split())
    if not words:
        # The caller reads this reason, and gets the price back.
        raise ExecutionFailure("the text has no words")
    most = words.most_common(request.parameters.get("top", 10))
    return json.dumps({"words": [{"word": word, "count": count} for word, count in most]})
