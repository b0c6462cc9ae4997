"""Writes the schemas that pydantic and the helper of openai emit for the types and models of this file.

Run it with each version of pydantic that is tested, the newest first. An older one keeps only types that differ:
    pip install 'pydantic[email]==2.14.4' openai; python emit.py > emitted/pydantic-2.14.json
    pip install 'pydantic[email]==2.12.5' openai; python emit.py emitted/pydantic-2.14.json > emitted/pydantic-2.12.json

pydantic itself takes each good value of a type, and refuses each bad one.
"""
import json
import re
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union
from uuid import UUID

import openai
import pydantic
from pydantic import AnyUrl, Base64Str, BaseModel, ByteSize, ConfigDict, Discriminator, EmailStr, Field, HttpUrl
from pydantic import IPvAnyAddress, Json, NaiveDatetime, SecretStr, Tag, ValidationError
from pydantic import condecimal, constr, create_model
from typing_extensions import NotRequired, TypedDict

class Color(str, Enum):
    red = 'red'
    green = 'green'

class Size(IntEnum):
    small = 1
    large = 2

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

class Step(BaseModel):
    explanation: str = Field(description='Why')
    output: Optional[str]

class Plan(BaseModel):
    """Makes a plan."""
    goal: str
    steps: list[Step]
    color: Color
    place: Point

class Word(BaseModel):
    model_config = ConfigDict(regex_engine='python-re')
    password: str = Field(pattern=r'^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,}$')

class Named(BaseModel):
    given: str = Field(alias='givenName')

class Movie(TypedDict):
    title: str
    year: NotRequired[int]

class Team(BaseModel):
    lead: Point
    members: dict[str, list[Union[Cat, Dog]]] = {}

def kind_of(value: Any) -> str:
    return 'point' if isinstance(value, dict) else 'text'

AMOUNT = '12.50'
# Name, type, good values, bad values. The model Request has the other types.
TYPES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ('text with lengths', Annotated[str, Field(min_length=2, max_length=3)], ['ab'], ['a', 'abcd']),
    ('a password by lookahead', Word, [{'password': 'Passw0rds'}], [{'password': 'password1'}, {'password': 'Pass w0rd'}, {'password': 'Pw0'}]),
    ('decimal', Decimal, [AMOUNT, 12.5, 3, '-1', '+.5', '1.'], ['abc', '', '.', '1.2.3', '-', []]),
    ('decimal with bounds', Annotated[Decimal, Field(ge=0, le=100)], [AMOUNT, 12.5, 0], [-1, 101, 'x']),
    ('decimal with digits', Annotated[Decimal, Field(max_digits=5)], [AMOUNT, '00012345', 1.5], ['12345.6', '123456', 'x']),
    ('decimal with places', Annotated[Decimal, Field(decimal_places=2)], [AMOUNT, '12.5000', '1'], ['1.234', 'x']),
    ('decimal with digits and places', Annotated[Decimal, Field(max_digits=8, decimal_places=2)], [AMOUNT, '123456.78', '000123456.78', '-5'], ['1234567.8', '0.125', '-', 'x']),
    ('optional decimal', Optional[condecimal(max_digits=10, decimal_places=4)], [None, '1.2345'], ['1.23456', 'x']),
    ('time of a day', time, ['10:20:30Z', '10:20:30.5Z'], ['soon']),
    ('date and time without a zone', NaiveDatetime, [], ['x']),
    ('duration', timedelta, ['PT1.5S', '-P1DT2H', 'P3D'], ['x']),
    ('email', EmailStr, ['ann@example.com'], ['ann']),
    ('web address', HttpUrl, ['https://example.com/'], ['example']),
    ('ipv4', IPv4Address, ['127.0.0.1'], ['127.0.0']),
    ('ipv6', IPv6Address, ['::1'], ['x']),
    ('any address', IPvAnyAddress, ['::1'], [[]]),
    ('network', IPv4Network, ['10.0.0.0/8'], [[]]),
    ('enum of integers', Size, [1], [3]),
    ('union by a function', Annotated[Union[Annotated[Point, Tag('point')], Annotated[str, Tag('text')]], Discriminator(kind_of)], ['a', {'lat': 1, 'lon': 2}], [1]),
    ('map with a pattern of names', dict[constr(pattern=r'^k\d+$'), int], [{'k1': 1}], [{'k1': 'x'}]),
    ('map with enum names', dict[Color, int], [{'red': 1}], [{'red': 'x'}]),
    ('nested models', Team, [{'lead': {'lat': 1, 'lon': 2}, 'members': {'a': [{'kind': 'cat'}]}}], [{'lead': {}}, {'lead': {'lat': 1, 'lon': 2}, 'members': {'a': [{'kind': 'fish'}]}}]),
    ('model with an alias', Named, [{'givenName': 'Ann'}], [{'given': 'Ann'}]),
    ('typed dict', Movie, [{'title': 'M'}], [{'year': 1931}, {'title': 'M', 'year': 'x'}]),
    ('base64', Base64Str, ['YQ=='], [1]),
    ('json text', Json[list[int]], ['[1]'], [1]),
    ('regular expression', re.Pattern, ['^a$'], [1]),
    ('size in bytes', ByteSize, [1], [-1]),
]

def emit(name: str, type_: Any, good: list[Any], bad: list[Any]) -> dict[str, Any]:
    model = create_model('Request', a=(type_, ...))
    for value in good:
        model.model_validate_json(json.dumps({'a': value}))
    for value in bad:
        try:
            model.model_validate_json(json.dumps({'a': value}))
        except ValidationError:
            continue
        raise AssertionError(f'{name} takes {value!r}')
    schemas = {'input': model.model_json_schema(mode='validation')}
    output = model.model_json_schema(mode='serialization')
    if output != schemas['input']:
        schemas['output'] = output
    return {'name': name, 'good': good, 'bad': bad, **schemas}

models = {} if sys.argv[1:] else {
    'input': Request.model_json_schema(),
    'openai': {'version': openai.__version__, 'tool': openai.pydantic_function_tool(Plan)},
}
# One line for each type keeps the files short and their differences readable.
lines = [f'  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},' for name, value in models.items()]
known = [line.rstrip(',') for path in sys.argv[1:] for line in Path(path).read_text().splitlines()]
types = [f'    {json.dumps(emit(*one), ensure_ascii=False)}' for one in TYPES]
types = [line for line in types if line not in known]
sys.stdout.write('\n'.join(['{', f'  "version": {json.dumps(pydantic.VERSION)},', *lines, '  "types": [', ',\n'.join(types), '  ]', '}', '']))
