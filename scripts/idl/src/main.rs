//! Prints the Anchor IDL of the program crate whose folder is given, as JSON in snake_case.
//!
//! It is what `anchor idl build` does, without the `anchor` binary; `scripts/buildProgram.ts` runs it.

use std::{env, process::ExitCode};

use anchor_lang_idl::build::IdlBuilder;

fn main() -> ExitCode {
    let Some(program) = env::args().nth(1) else {
        eprintln!("usage: idl PROGRAM_FOLDER");
        return ExitCode::from(2);
    };
    let json = IdlBuilder::new()
        .program_path(program.into())
        .skip_lint(false)
        .build()
        .and_then(|idl| Ok(serde_json::to_string_pretty(&idl)?));
    match json {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
