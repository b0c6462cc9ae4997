/**
 * The IDL's type in camelCase, as `Program` of `@coral-xyz/anchor` presents a program to code. The other files of this
 * folder are generated.
 */
import type { CamelCase } from '../idlValues.ts';
import type { LiteralIdl } from './idl.ts';

/** Members whose text Anchor turns into camelCase. */
type Renamed = 'name' | 'path' | 'account' | 'relations';

/** `CONFIG_SEED` is `configSeed`, `archive.index` stays, `Config` is `config`. */
type Rename<Name extends string> = Name extends `${infer Head}.${infer Tail}`
  ? `${Rename<Head>}.${Rename<Tail>}`
  : Name extends Uppercase<Name>
    ? CamelCase<Lowercase<Name>>
    : Uncapitalize<CamelCase<Name>>;

/** The JSON has docs, which the module leaves out. */
interface Documented {
  docs?: string[];
}

type Anchored<Value, Member = never> = Value extends string
  ? Member extends Renamed
    ? Rename<Value>
    : Value
  : Value extends readonly unknown[]
    ? { -readonly [Index in keyof Value]: Anchored<Value[Index], Member> }
    : Value extends object
      ? { -readonly [Name in keyof Value]: Anchored<Value[Name], Name> } & Documented
      : Value;

/** For `new Program<Marketplace>(idl as Marketplace)`, where `idl` is the JSON of `marketplace.json`. */
export type Marketplace = Anchored<LiteralIdl>;
