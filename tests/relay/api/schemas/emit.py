"""Prints the schemas that pydantic and the helper of openai emit for the models of this file, as `emitted.json` holds them.

pip install pydantic openai; python emit.py > emitted.json
"""
import json
import sys
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal, Optional, Union
from uuid import UUID

import openai
import pydantic
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, Json, SecretStr

class Color(str, Enum):
    red = 'red'
    green = 'green'

class Point(BaseModel):
    """A place on the map."""
    model_config = ConfigDict(extra='forbid')
    lat: float = Field(ge=-90, le=90, description='Degrees north', examples=[52.5])
    lon: float = Field(ge=-180, le=180)

class Cat(BaseModel):
    kind: Literal['cat']
    lives: int = Field(9, ge=0, le=9)

class Dog(BaseModel):
    kind: Literal['dog']
    tricks: list[str] = []

class Request(BaseModel):
    """What the agent works on."""
    model_config = ConfigDict(title='Request of work', json_schema_extra={'examples': [{'query': 'q', 'where': {'lat': 1, 'lon': 2}, 'pet': {'kind': 'cat'}}]})
    query: str = Field(min_length=1, max_length=200, description='What to look for')
    where: Point
    also: list[Point] | None = None
    color: Color = Color.red
    pet: Annotated[Union[Cat, Dog], Field(discriminator='kind')]
    code: Annotated[str, Field(pattern=r'^[A-Z]{3}-\d{1,4}$')] = 'ABC-1'
    when: Optional[datetime] = None
    day: date | None = None
    id: UUID | None = None
    link: AnyUrl | None = None
    secret: SecretStr | None = None
    file: Path | None = None
    raw: bytes | None = None
    data: Json | None = None
    price: Decimal | None = None
    pair: tuple[int, str] | None = None
    tags: set[str] = Field(default_factory=set, max_length=5)
    scores: dict[str, float] = {}
    step: Annotated[int, Field(multiple_of=5)] = 5
    either: Union[int, str, None] = Field(None, deprecated=True)
    mode: Literal['fast', 'good', 3] = 'fast'

class Reply(BaseModel):
    answer: str
    points: list[Point]

class Step(BaseModel):
    explanation: str = Field(description='Why')
    output: Optional[str]

class Plan(BaseModel):
    """Makes a plan."""
    goal: str
    steps: list[Step]
    color: Color
    place: Point

out = {
    'pydantic': {'version': pydantic.VERSION, 'input': Request.model_json_schema(), 'output': Reply.model_json_schema(mode='serialization')},
    'openai': {'version': openai.__version__, 'tool': openai.pydantic_function_tool(Plan)},
}
json.dump(out, sys.stdout, indent=2, ensure_ascii=False)
