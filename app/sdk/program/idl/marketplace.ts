/**
 * Program IDL in camelCase format in order to be used in JS/TS.
 *
 * Note that this is only a type helper and is not the actual IDL. The original
 * IDL can be found at `marketplace.json` beside this file.
 */
export type Marketplace = {
  "address": "6wYfSpZq2bXE3TSRRh8HhNT8oHf4kZdy13ti9Nyepsyo",
  "metadata": {
    "name": "marketplace",
    "version": "0.1.0",
    "spec": "0.1.0",
    "description": "Escrow for paid agent executions, released only against the creator's signed result"
  },
  "docs": [
    "The instructions, in the order in which a marketplace meets them."
  ],
  "instructions": [
    {
      "name": "acceptAdmin",
      "docs": [
        "Become admin.",
        "",
        "Authority: the proposed admin. Emits `AdminChanged`. Errors: NotPendingAdmin."
      ],
      "discriminator": [
        112,
        42,
        45,
        90,
        116,
        181,
        13,
        170
      ],
      "accounts": [
        {
          "name": "pendingAdmin",
          "docs": [
            "The proposed admin; the zero key, which stands for nobody, cannot sign."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "config",
          "writable": true,
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        }
      ],
      "args": []
    },
    {
      "name": "archiveExecutions",
      "docs": [
        "Turn ended records into leaves of an archive's tree and give their rent back to who paid it. The remaining",
        "accounts are pairs of a record and its rent sponsor, at most 12; what cannot be archived now is skipped.",
        "",
        "Authority: anyone. Sends `ExecutionsArchived` as the data of a call to itself.",
        "Errors: TooManyRecords, NothingToArchive, ArchiveFull, WrongAddress."
      ],
      "discriminator": [
        219,
        147,
        207,
        230,
        245,
        4,
        30,
        13
      ],
      "accounts": [
        {
          "name": "archive",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  97,
                  114,
                  99,
                  104,
                  105,
                  118,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "archive.index",
                "account": "archive"
              }
            ]
          }
        },
        {
          "name": "tree",
          "writable": true,
          "relations": [
            "archive"
          ]
        },
        {
          "name": "eventAuthority",
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  95,
                  95,
                  101,
                  118,
                  101,
                  110,
                  116,
                  95,
                  97,
                  117,
                  116,
                  104,
                  111,
                  114,
                  105,
                  116,
                  121
                ]
              }
            ]
          }
        },
        {
          "name": "program"
        }
      ],
      "args": []
    },
    {
      "name": "claimDisputeAward",
      "docs": [
        "Pay an award that the caller's account could not receive when its dispute was upheld.",
        "",
        "Authority: anyone, to the caller's associated token account; the caller, to any USDC account of its own.",
        "Emits `DisputeAwardClaimed`.",
        "Errors: NothingOwed, WrongListing, WrongDestination, DestinationUnusable, WrongRentSponsor."
      ],
      "discriminator": [
        168,
        203,
        222,
        171,
        158,
        31,
        43,
        8
      ],
      "accounts": [
        {
          "name": "authority",
          "docs": [
            "Anyone; only the caller may name another destination than its associated token account."
          ],
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "dispute",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  100,
                  105,
                  115,
                  112,
                  117,
                  116,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "dispute.record",
                "account": "dispute"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "dispute.listing",
                "account": "dispute"
              }
            ]
          }
        },
        {
          "name": "collateralVault",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108,
                  95,
                  118,
                  97,
                  117,
                  108,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "dispute.listing",
                "account": "dispute"
              }
            ]
          }
        },
        {
          "name": "destination",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "dispute.caller",
                "account": "dispute"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "config.usdcMint",
                "account": "config"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "collateral"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": []
    },
    {
      "name": "closeDispute",
      "docs": [
        "Give the rent of an ended dispute back to who paid it, 30 days after its outcome.",
        "",
        "Authority: anyone. Emits `DisputeClosed`. Errors: DisputeNotEnded, CloseTooEarly, WrongRentSponsor."
      ],
      "discriminator": [
        60,
        18,
        92,
        170,
        100,
        195,
        146,
        196
      ],
      "accounts": [
        {
          "name": "dispute",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  100,
                  105,
                  115,
                  112,
                  117,
                  116,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "dispute.record",
                "account": "dispute"
              }
            ]
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "dispute"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "closeExecution",
      "docs": [
        "Give the rent of an ended execution back to who lent it: three days after a refund, and where nobody archived",
        "a paid one, a year after its dispute window.",
        "",
        "Authority: anyone. Emits `ExecutionClosed`. Errors: ExecutionNotEnded, CloseTooEarly, WrongRentSponsor."
      ],
      "discriminator": [
        184,
        84,
        94,
        0,
        234,
        19,
        115,
        141
      ],
      "accounts": [
        {
          "name": "record",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  120,
                  101,
                  99,
                  117,
                  116,
                  105,
                  111,
                  110
                ]
              },
              {
                "kind": "account",
                "path": "record.executionId",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "record"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "closeGrant",
      "docs": [
        "End a key's right, if it still was one, and give the account's rent back to who paid it.",
        "",
        "Authority: the wallet. Emits `GrantClosed`. Errors: NotGrantWallet, WrongRentSponsor, GrantInUse."
      ],
      "discriminator": [
        70,
        22,
        221,
        111,
        171,
        253,
        39,
        217
      ],
      "accounts": [
        {
          "name": "wallet",
          "docs": [
            "The grant's wallet."
          ],
          "signer": true,
          "relations": [
            "grant"
          ]
        },
        {
          "name": "grant",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  103,
                  114,
                  97,
                  110,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "grant.wallet",
                "account": "keyGrant"
              },
              {
                "kind": "account",
                "path": "grant.keyId",
                "account": "keyGrant"
              }
            ]
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "grant"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "createArchive",
      "docs": [
        "Register the next archive and its tree: an account of this program, made before by the system program,",
        "because a call between programs can make 10,240 bytes only.",
        "",
        "Authority: anyone; the index before must be nine tenths full. Emits `ArchiveCreated`.",
        "Errors: ArchiveTooEarly, InvalidTree, AccountExists."
      ],
      "discriminator": [
        208,
        182,
        193,
        28,
        78,
        61,
        16,
        79
      ],
      "accounts": [
        {
          "name": "payer",
          "docs": [
            "Pays the archive's rent; the tree's has been paid."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "archive",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  97,
                  114,
                  99,
                  104,
                  105,
                  118,
                  101
                ]
              },
              {
                "kind": "arg",
                "path": "args.index"
              }
            ]
          }
        },
        {
          "name": "tree",
          "writable": true
        },
        {
          "name": "previous",
          "docs": [
            "The archive before; none for the first."
          ],
          "optional": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  97,
                  114,
                  99,
                  104,
                  105,
                  118,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "previous.index",
                "account": "archive"
              }
            ]
          }
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "createArchiveArgs"
            }
          }
        }
      ]
    },
    {
      "name": "createGrant",
      "docs": [
        "Give an API key a capped right to spend from the signing wallet. It works only together with an SPL",
        "approval of the wallet's `Spender` address.",
        "",
        "Authority: the wallet. Emits `GrantCreated`. Errors: GrantLimitZero, GrantExpiryOutOfBounds,",
        "GrantGasOutOfBounds, InvalidKeyId, AccountExists."
      ],
      "discriminator": [
        19,
        119,
        176,
        223,
        45,
        142,
        225,
        156
      ],
      "accounts": [
        {
          "name": "wallet",
          "docs": [
            "The wallet whose USDC the key may spend."
          ],
          "signer": true
        },
        {
          "name": "payer",
          "docs": [
            "Pays the grant's rent."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "grant",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  103,
                  114,
                  97,
                  110,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "wallet"
              },
              {
                "kind": "arg",
                "path": "args.keyId"
              }
            ]
          }
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "createGrantArgs"
            }
          }
        }
      ]
    },
    {
      "name": "delistAgent",
      "docs": [
        "Take a listing off for good. Its collateral can go back once every window that could be open has closed.",
        "",
        "Authority: the creator. Emits `AgentDelisted`. Errors: NotCreator, InvalidListingTransition."
      ],
      "discriminator": [
        243,
        7,
        164,
        26,
        25,
        34,
        96,
        95
      ],
      "accounts": [
        {
          "name": "creator",
          "signer": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        }
      ],
      "args": []
    },
    {
      "name": "initializeConfig",
      "docs": [
        "Create the marketplace: settings, settlement mint and treasury, all for ever or within fixed bounds.",
        "",
        "Authority: the program's upgrade authority. Emits `ConfigInitialized`.",
        "Errors: NotUpgradeAuthority, InvalidAuthority, InvalidRelayAuthorities, InvalidMint, the OutOfBounds",
        "errors, InvalidTiers."
      ],
      "discriminator": [
        208,
        127,
        21,
        1,
        194,
        190,
        196,
        70
      ],
      "accounts": [
        {
          "name": "authority",
          "docs": [
            "The program's upgrade authority."
          ],
          "signer": true
        },
        {
          "name": "payer",
          "docs": [
            "Pays the rent."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "writable": true,
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "treasury",
          "writable": true,
          "address": "9Vdy6EpxZqW7Nj5c8sze1hMDrviBeYa6mpokmE41GRHA"
        },
        {
          "name": "usdcMint"
        },
        {
          "name": "programData"
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "initializeConfigArgs"
            }
          }
        }
      ]
    },
    {
      "name": "lapseDispute",
      "docs": [
        "End a dispute that the admin left unanswered for 30 days; the bond goes back.",
        "",
        "Authority: anyone. Emits `DisputeLapsed`. Errors: DisputeNotOpen, LapseTooEarly, WrongListing, WrongRentSponsor."
      ],
      "discriminator": [
        252,
        41,
        150,
        91,
        62,
        93,
        216,
        62
      ],
      "accounts": [
        {
          "name": "record",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  120,
                  101,
                  99,
                  117,
                  116,
                  105,
                  111,
                  110
                ]
              },
              {
                "kind": "account",
                "path": "record.executionId",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "dispute",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  100,
                  105,
                  115,
                  112,
                  117,
                  116,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "record.listing",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "dispute"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "listAgent",
      "docs": [
        "List an agent and deposit its collateral. `possession` is the signing key's Ed25519 signature over",
        "`agent-marketplace:register:v1:` and the listing's 32 bytes.",
        "",
        "Authority: the creator. Emits `AgentListed`.",
        "Errors: the terms' (PriceBelowMinimum to UriTooLong), InvalidPayout, InvalidDepositSource,",
        "WeakSigningKey, SignatureInvalid, SigningKeyTaken, AccountExists."
      ],
      "discriminator": [
        158,
        60,
        228,
        0,
        50,
        242,
        199,
        221
      ],
      "accounts": [
        {
          "name": "creator",
          "docs": [
            "The creator's wallet; owns `source` and `payout`."
          ],
          "signer": true
        },
        {
          "name": "payer",
          "docs": [
            "Pays the rent of the four new accounts."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "creator"
              },
              {
                "kind": "arg",
                "path": "args.listingId"
              }
            ]
          }
        },
        {
          "name": "signingKey",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  107,
                  101,
                  121
                ]
              },
              {
                "kind": "arg",
                "path": "args.signingKey"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "collateralVault",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108,
                  95,
                  118,
                  97,
                  117,
                  108,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "source",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "creator"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "usdcMint"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "payout",
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "creator"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "usdcMint"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "usdcMint",
          "relations": [
            "config"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "listAgentArgs"
            }
          }
        }
      ]
    },
    {
      "name": "openDispute",
      "docs": [
        "Dispute a settled execution, once, within its window. `payer` pays rent and bond.",
        "",
        "Authority: the execution's caller. Emits `DisputeOpened`.",
        "Errors: NotCaller, ExecutionNotCompleted, DisputeWindowClosed, DisputeExists, UriTooLong, WrongListing."
      ],
      "discriminator": [
        137,
        25,
        99,
        119,
        23,
        223,
        161,
        42
      ],
      "accounts": [
        {
          "name": "caller",
          "docs": [
            "The record's caller."
          ],
          "signer": true,
          "relations": [
            "record"
          ]
        },
        {
          "name": "payer",
          "docs": [
            "Pays rent and bond, and gets the bond back unless the dispute is rejected."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "record",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  120,
                  101,
                  99,
                  117,
                  116,
                  105,
                  111,
                  110
                ]
              },
              {
                "kind": "account",
                "path": "record.executionId",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "record.listing",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "dispute",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  100,
                  105,
                  115,
                  112,
                  117,
                  116,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "openDisputeArgs"
            }
          }
        }
      ]
    },
    {
      "name": "openExecution",
      "docs": [
        "Fund an execution from the caller's own USDC account. `payer` lends the rent, to be returned to any",
        "`rent_sponsor` that it names, and gives the gas.",
        "",
        "Authority: the caller. Emits `ExecutionOpened`.",
        "Errors: OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange,",
        "OpenTooLate, GasOutOfBounds, WrongNonceDay, WrongExecutionId, InvalidRentSponsor, InvalidSource,",
        "InsufficientBalance, ExposureLimitReached, WrongListing, AccountExists, WrongAddress."
      ],
      "discriminator": [
        241,
        247,
        215,
        5,
        106,
        100,
        238,
        42
      ],
      "accounts": [
        {
          "name": "caller",
          "docs": [
            "The wallet that pays the price."
          ],
          "signer": true
        },
        {
          "name": "payer",
          "docs": [
            "Lends the rent, and gives the gas."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "rentSponsor",
          "writable": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing"
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "record",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  120,
                  101,
                  99,
                  117,
                  116,
                  105,
                  111,
                  110
                ]
              },
              {
                "kind": "arg",
                "path": "args.executionId"
              }
            ]
          }
        },
        {
          "name": "escrow",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  115,
                  99,
                  114,
                  111,
                  119
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "source",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "caller"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "usdcMint"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "usdcMint",
          "relations": [
            "config"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "openExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "openExecutionWithGrant",
      "docs": [
        "Fund an execution from a wallet that granted an API key the right to. The wallet's tank gives the gas; the",
        "rent is lent by the tank where it is the `rent_sponsor`, else by `payer`, as in `open_execution`.",
        "",
        "Authority: a relay authority, within the grant's caps. Emits `ExecutionOpened`.",
        "Errors: those of `open_execution`, NotRelayAuthority, InsufficientAllowance, the Grant errors, TankTooLow,",
        "TankBelowRent."
      ],
      "discriminator": [
        161,
        197,
        23,
        56,
        188,
        175,
        19,
        80
      ],
      "accounts": [
        {
          "name": "relayAuthority",
          "signer": true
        },
        {
          "name": "payer",
          "docs": [
            "Lends the rent, unless the tank does."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "rentSponsor",
          "docs": [
            "`validate_open`."
          ],
          "writable": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing"
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "grant",
          "writable": true
        },
        {
          "name": "spender",
          "docs": [
            "gas."
          ],
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  115,
                  112,
                  101,
                  110,
                  100,
                  101,
                  114
                ]
              },
              {
                "kind": "account",
                "path": "grant.wallet",
                "account": "keyGrant"
              }
            ]
          }
        },
        {
          "name": "record",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  120,
                  101,
                  99,
                  117,
                  116,
                  105,
                  111,
                  110
                ]
              },
              {
                "kind": "arg",
                "path": "args.executionId"
              }
            ]
          }
        },
        {
          "name": "escrow",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  115,
                  99,
                  114,
                  111,
                  119
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "source",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "grant.wallet",
                "account": "keyGrant"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "usdcMint"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "usdcMint",
          "relations": [
            "config"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "openExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "proposeAdmin",
      "docs": [
        "Name who may become admin, or with the zero key nobody.",
        "",
        "Authority: the admin. Emits `AdminProposed`. Errors: NotAdmin."
      ],
      "discriminator": [
        121,
        214,
        199,
        212,
        87,
        39,
        117,
        234
      ],
      "accounts": [
        {
          "name": "admin",
          "docs": [
            "The admin."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "config",
          "writable": true,
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "proposeAdminArgs"
            }
          }
        }
      ]
    },
    {
      "name": "refundExecution",
      "docs": [
        "Send an escrow back to its caller.",
        "",
        "Authority: a relay authority, which gets the gas; anyone from `refund_at` on, and then the rent sponsor gets it.",
        "Emits `ExecutionRefunded`.",
        "Errors: ExecutionNotOpen, RefundTooEarly, WrongRefundDestination, RefundDestinationUnusable,",
        "WrongRentSponsor, WrongGrant, WrongAddress."
      ],
      "discriminator": [
        210,
        43,
        26,
        214,
        125,
        234,
        204,
        229
      ],
      "accounts": [
        {
          "name": "authority",
          "docs": [
            "A relay authority, which gets the gas, or anyone from `refund_at` on."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "record",
          "writable": true
        },
        {
          "name": "escrow",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  115,
                  99,
                  114,
                  111,
                  119
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "destination",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "record.caller",
                "account": "executionRecord"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "config.usdcMint",
                "account": "config"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "grant",
          "docs": [
            "The grant that paid; closed or revoked it gets nothing back. Of a wallet's own open any account will do."
          ],
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  103,
                  114,
                  97,
                  110,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "record.caller",
                "account": "executionRecord"
              },
              {
                "kind": "account",
                "path": "record.keyId",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "record"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "refundExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "resolveDispute",
      "docs": [
        "Answer a dispute. Rejected: the bond goes to the creator. Upheld: `amount` of the collateral is slashed,",
        "to the caller up to the price, the rest to the treasury; the bond goes back; an active listing whose",
        "collateral is then below what its price requires is paused.",
        "",
        "Authority: the admin. Emits `DisputeResolved`.",
        "Errors: NotAdmin, DisputeNotOpen, WrongListing, WrongDestination, InvalidAmount, SlashAboveCollateral,",
        "OtherDisputesStarved, NotCreator, WrongRentSponsor."
      ],
      "discriminator": [
        231,
        6,
        202,
        6,
        96,
        103,
        12,
        230
      ],
      "accounts": [
        {
          "name": "admin",
          "docs": [
            "The admin."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "record",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  120,
                  101,
                  99,
                  117,
                  116,
                  105,
                  111,
                  110
                ]
              },
              {
                "kind": "account",
                "path": "record.executionId",
                "account": "executionRecord"
              }
            ]
          }
        },
        {
          "name": "dispute",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  100,
                  105,
                  115,
                  112,
                  117,
                  116,
                  101
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "listing",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          },
          "relations": [
            "record"
          ]
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "collateralVault",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108,
                  95,
                  118,
                  97,
                  117,
                  108,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "destination",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "record.caller",
                "account": "executionRecord"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "config.usdcMint",
                "account": "config"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "treasury",
          "writable": true,
          "address": "9Vdy6EpxZqW7Nj5c8sze1hMDrviBeYa6mpokmE41GRHA"
        },
        {
          "name": "creator",
          "writable": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "dispute"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "resolveDisputeArgs"
            }
          }
        }
      ]
    },
    {
      "name": "returnCollateral",
      "docs": [
        "Send what is left of a delisted listing's collateral to its creator's associated token account. Awards",
        "that are still owed stay in the vault; without any it is closed, or, where a rise of the rent has left nobody able",
        "to take its rent, by the same instruction later.",
        "",
        "Authority: anyone. Emits `CollateralReturned`.",
        "Errors: CollateralNotReturnable, DisputesOpen, WrongDestination, DestinationUnusable, WrongRentSponsor."
      ],
      "discriminator": [
        158,
        123,
        154,
        116,
        184,
        199,
        230,
        28
      ],
      "accounts": [
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing",
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "collateralVault",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108,
                  95,
                  118,
                  97,
                  117,
                  108,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "destination",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "tokenProgram"
              },
              {
                "kind": "account",
                "path": "config.usdcMint",
                "account": "config"
              }
            ],
            "program": {
              "kind": "const",
              "value": [
                140,
                151,
                37,
                143,
                78,
                36,
                137,
                241,
                187,
                61,
                16,
                41,
                20,
                142,
                13,
                131,
                11,
                90,
                19,
                153,
                218,
                255,
                16,
                132,
                4,
                142,
                123,
                216,
                219,
                233,
                248,
                89
              ]
            }
          }
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "collateral"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": []
    },
    {
      "name": "revokeGrant",
      "docs": [
        "End a key's right for good.",
        "",
        "Authority: the wallet or a relay authority. Emits `GrantRevoked`.",
        "Errors: NotGrantAuthority, GrantRevoked."
      ],
      "discriminator": [
        134,
        180,
        57,
        39,
        152,
        7,
        154,
        98
      ],
      "accounts": [
        {
          "name": "authority",
          "docs": [
            "The grant's wallet, or a relay authority."
          ],
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "grant",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  103,
                  114,
                  97,
                  110,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "grant.wallet",
                "account": "keyGrant"
              },
              {
                "kind": "account",
                "path": "grant.keyId",
                "account": "keyGrant"
              }
            ]
          }
        }
      ],
      "args": []
    },
    {
      "name": "rotateSigningKey",
      "docs": [
        "Sign with another key from now on; open executions keep theirs. `possession` is the new key's proof, as for",
        "`list_agent`. A key that this listing used before may come back.",
        "",
        "Authority: the creator. Emits `SigningKeyRotated`.",
        "Errors: NotCreator, ListingDelisted, SigningKeyTaken, WeakSigningKey, SignatureInvalid."
      ],
      "discriminator": [
        229,
        103,
        107,
        44,
        84,
        162,
        133,
        170
      ],
      "accounts": [
        {
          "name": "creator",
          "signer": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "payer",
          "docs": [
            "Pays the rent of a key that is new."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "listing",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          }
        },
        {
          "name": "signingKey",
          "docs": [
            "What it is, said to the IDL alone."
          ],
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  107,
                  101,
                  121
                ]
              },
              {
                "kind": "arg",
                "path": "args.signingKey"
              }
            ]
          }
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "rotateSigningKeyArgs"
            }
          }
        }
      ]
    },
    {
      "name": "setCreatorVerified",
      "docs": [
        "Give or take a creator's verification badge.",
        "",
        "Authority: the admin. Emits `CreatorVerificationChanged`. Errors: NotAdmin."
      ],
      "discriminator": [
        157,
        200,
        211,
        154,
        135,
        148,
        5,
        68
      ],
      "accounts": [
        {
          "name": "admin",
          "docs": [
            "The admin."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "payer",
          "docs": [
            "Pays the profile's rent the first time."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "profile",
          "docs": [
            "What it is, said to the IDL alone."
          ],
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  114,
                  101,
                  97,
                  116,
                  111,
                  114
                ]
              },
              {
                "kind": "arg",
                "path": "args.creator"
              }
            ]
          }
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "setCreatorVerifiedArgs"
            }
          }
        }
      ]
    },
    {
      "name": "setListingStatus",
      "docs": [
        "Pause or resume a listing.",
        "",
        "Authority: the creator. Emits `ListingStatusChanged`.",
        "Errors: NotCreator, InvalidListingTransition, CollateralBelowTier."
      ],
      "discriminator": [
        98,
        66,
        57,
        95,
        13,
        152,
        159,
        154
      ],
      "accounts": [
        {
          "name": "creator",
          "signer": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "setListingStatusArgs"
            }
          }
        }
      ]
    },
    {
      "name": "setRelayAuthorities",
      "docs": [
        "Say which keys have the relay's part, at once; they replace those before.",
        "",
        "Authority: the admin. Emits `RelayAuthoritiesChanged`. Errors: NotAdmin, InvalidRelayAuthorities."
      ],
      "discriminator": [
        119,
        37,
        118,
        37,
        236,
        134,
        9,
        218
      ],
      "accounts": [
        {
          "name": "admin",
          "docs": [
            "The admin."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "config",
          "writable": true,
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "setRelayAuthoritiesArgs"
            }
          }
        }
      ]
    },
    {
      "name": "settleExecution",
      "docs": [
        "Release an escrow: the fee to the treasury, the rest to the listing's payout account or any other USDC account",
        "of its creator. `signature` is the record's signing key's over `sha256:` and the result hash in lower-case hex.",
        "",
        "Authority: a relay authority, which gets the gas, and that signature, before `refund_at`.",
        "Emits `ExecutionSettled`.",
        "Errors: NotRelayAuthority, ExecutionNotOpen, SettleWindowClosed, WrongListing, PayoutUnusable,",
        "WrongRentSponsor, SignatureInvalid, WrongAddress."
      ],
      "discriminator": [
        186,
        63,
        130,
        92,
        224,
        218,
        118,
        244
      ],
      "accounts": [
        {
          "name": "relayAuthority",
          "docs": [
            "Must sign too, because the creator's signature does not name the execution. Gets the gas."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "record",
          "writable": true
        },
        {
          "name": "listing",
          "docs": [
            "Says who the creator is; its status does not matter here."
          ],
          "relations": [
            "record"
          ]
        },
        {
          "name": "escrow",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  101,
                  115,
                  99,
                  114,
                  111,
                  119
                ]
              },
              {
                "kind": "account",
                "path": "record"
              }
            ]
          }
        },
        {
          "name": "payout",
          "writable": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "treasury",
          "writable": true,
          "address": "9Vdy6EpxZqW7Nj5c8sze1hMDrviBeYa6mpokmE41GRHA"
        },
        {
          "name": "rentSponsor",
          "writable": true,
          "relations": [
            "record"
          ]
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "settleExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "topUpCollateral",
      "docs": [
        "Add to a listing's collateral.",
        "",
        "Authority: the creator. Emits `CollateralToppedUp`.",
        "Errors: NotCreator, ListingDelisted, InvalidAmount, InvalidDepositSource, InsufficientBalance."
      ],
      "discriminator": [
        199,
        253,
        247,
        165,
        20,
        10,
        127,
        243
      ],
      "accounts": [
        {
          "name": "creator",
          "docs": [
            "The creator's wallet; owns `source`."
          ],
          "signer": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "listing",
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "collateralVault",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108,
                  95,
                  118,
                  97,
                  117,
                  108,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "source",
          "writable": true
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "topUpCollateralArgs"
            }
          }
        }
      ]
    },
    {
      "name": "updateConfig",
      "docs": [
        "Change settings; what is absent stays. Executions that are open keep what they were opened with.",
        "",
        "Authority: the admin. Emits `ConfigUpdated`. Errors: NotAdmin, the OutOfBounds errors, InvalidTiers."
      ],
      "discriminator": [
        29,
        158,
        252,
        191,
        10,
        83,
        219,
        99
      ],
      "accounts": [
        {
          "name": "admin",
          "docs": [
            "The admin."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "config",
          "writable": true,
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "updateConfigArgs"
            }
          }
        }
      ]
    },
    {
      "name": "updateGrant",
      "docs": [
        "Change a key's limits; what is spent stays spent, even where it is above them.",
        "",
        "Authority: the wallet. Emits `GrantUpdated`.",
        "Errors: NotGrantWallet, GrantRevoked, GrantLimitZero, GrantExpiryOutOfBounds, GrantGasOutOfBounds."
      ],
      "discriminator": [
        182,
        221,
        48,
        175,
        27,
        156,
        166,
        93
      ],
      "accounts": [
        {
          "name": "wallet",
          "docs": [
            "The grant's wallet."
          ],
          "signer": true,
          "relations": [
            "grant"
          ]
        },
        {
          "name": "grant",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  103,
                  114,
                  97,
                  110,
                  116
                ]
              },
              {
                "kind": "account",
                "path": "grant.wallet",
                "account": "keyGrant"
              },
              {
                "kind": "account",
                "path": "grant.keyId",
                "account": "keyGrant"
              }
            ]
          }
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "updateGrantArgs"
            }
          }
        }
      ]
    },
    {
      "name": "updateListing",
      "docs": [
        "Change a listing's terms or payout account; new terms raise its version.",
        "",
        "Authority: the creator. Emits `ListingUpdated`.",
        "Errors: NotCreator, ListingDelisted, the terms', CollateralBelowTier, InvalidPayout."
      ],
      "discriminator": [
        192,
        174,
        210,
        68,
        116,
        40,
        242,
        253
      ],
      "accounts": [
        {
          "name": "creator",
          "signer": true,
          "relations": [
            "listing"
          ]
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "listing",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  108,
                  105,
                  115,
                  116,
                  105,
                  110,
                  103
                ]
              },
              {
                "kind": "account",
                "path": "listing.creator",
                "account": "agentListing"
              },
              {
                "kind": "account",
                "path": "listing.listingId",
                "account": "agentListing"
              }
            ]
          }
        },
        {
          "name": "collateral",
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  99,
                  111,
                  108,
                  108,
                  97,
                  116,
                  101,
                  114,
                  97,
                  108
                ]
              },
              {
                "kind": "account",
                "path": "listing"
              }
            ]
          }
        },
        {
          "name": "payout",
          "docs": [
            "The account that settlements pay from now on; may be the present one."
          ],
          "relations": [
            "listing"
          ]
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "updateListingArgs"
            }
          }
        }
      ]
    },
    {
      "name": "withdrawGas",
      "docs": [
        "Take lamports out of the signing wallet's tank, its `Spender` address, which anyone fills by plain transfers.",
        "",
        "Authority: the wallet. Emits `GasWithdrawn`. Errors: InvalidAmount, TankBelowRent."
      ],
      "discriminator": [
        35,
        60,
        150,
        196,
        226,
        110,
        54,
        45
      ],
      "accounts": [
        {
          "name": "wallet",
          "docs": [
            "The tank's wallet, which receives."
          ],
          "writable": true,
          "signer": true
        },
        {
          "name": "spender",
          "writable": true,
          "pda": {
            "seeds": [
              {
                "kind": "const",
                "value": [
                  115,
                  112,
                  101,
                  110,
                  100,
                  101,
                  114
                ]
              },
              {
                "kind": "account",
                "path": "wallet"
              }
            ]
          }
        },
        {
          "name": "systemProgram",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "withdrawGasArgs"
            }
          }
        }
      ]
    },
    {
      "name": "withdrawTreasury",
      "docs": [
        "Take collected fees out.",
        "",
        "Authority: the admin. Emits `TreasuryWithdrawn`. Errors: NotAdmin, InvalidAmount, DestinationUnusable."
      ],
      "discriminator": [
        40,
        63,
        122,
        158,
        144,
        216,
        83,
        96
      ],
      "accounts": [
        {
          "name": "admin",
          "docs": [
            "The admin."
          ],
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "treasury",
          "writable": true,
          "address": "9Vdy6EpxZqW7Nj5c8sze1hMDrviBeYa6mpokmE41GRHA"
        },
        {
          "name": "destination",
          "writable": true
        },
        {
          "name": "tokenProgram",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "withdrawTreasuryArgs"
            }
          }
        }
      ]
    }
  ],
  "accounts": [
    {
      "name": "agentListing",
      "discriminator": [
        224,
        156,
        61,
        213,
        111,
        100,
        43,
        56
      ]
    },
    {
      "name": "archive",
      "discriminator": [
        231,
        36,
        31,
        240,
        210,
        212,
        36,
        107
      ]
    },
    {
      "name": "config",
      "discriminator": [
        155,
        12,
        170,
        224,
        30,
        250,
        204,
        130
      ]
    },
    {
      "name": "creatorCollateral",
      "discriminator": [
        213,
        114,
        3,
        47,
        215,
        10,
        174,
        194
      ]
    },
    {
      "name": "creatorProfile",
      "discriminator": [
        251,
        250,
        184,
        111,
        214,
        178,
        32,
        221
      ]
    },
    {
      "name": "dispute",
      "discriminator": [
        36,
        49,
        241,
        67,
        40,
        36,
        241,
        74
      ]
    },
    {
      "name": "executionRecord",
      "discriminator": [
        133,
        201,
        182,
        206,
        224,
        111,
        45,
        168
      ]
    },
    {
      "name": "keyGrant",
      "discriminator": [
        103,
        55,
        135,
        39,
        109,
        177,
        188,
        122
      ]
    },
    {
      "name": "signingKey",
      "discriminator": [
        13,
        3,
        49,
        217,
        17,
        142,
        38,
        239
      ]
    }
  ],
  "events": [
    {
      "name": "adminChanged",
      "discriminator": [
        232,
        34,
        31,
        226,
        62,
        18,
        19,
        114
      ]
    },
    {
      "name": "adminProposed",
      "discriminator": [
        129,
        249,
        226,
        227,
        199,
        82,
        110,
        243
      ]
    },
    {
      "name": "agentDelisted",
      "discriminator": [
        116,
        49,
        238,
        81,
        13,
        146,
        230,
        245
      ]
    },
    {
      "name": "agentListed",
      "discriminator": [
        122,
        167,
        174,
        129,
        164,
        138,
        217,
        9
      ]
    },
    {
      "name": "archiveCreated",
      "discriminator": [
        121,
        201,
        171,
        102,
        20,
        167,
        232,
        65
      ]
    },
    {
      "name": "collateralReturned",
      "discriminator": [
        211,
        45,
        46,
        135,
        233,
        100,
        248,
        80
      ]
    },
    {
      "name": "collateralToppedUp",
      "discriminator": [
        189,
        137,
        204,
        58,
        135,
        182,
        19,
        176
      ]
    },
    {
      "name": "configInitialized",
      "discriminator": [
        181,
        49,
        200,
        156,
        19,
        167,
        178,
        91
      ]
    },
    {
      "name": "configUpdated",
      "discriminator": [
        40,
        241,
        230,
        122,
        11,
        19,
        198,
        194
      ]
    },
    {
      "name": "creatorVerificationChanged",
      "discriminator": [
        52,
        122,
        95,
        60,
        219,
        4,
        131,
        105
      ]
    },
    {
      "name": "disputeAwardClaimed",
      "discriminator": [
        53,
        234,
        24,
        126,
        46,
        150,
        15,
        65
      ]
    },
    {
      "name": "disputeClosed",
      "discriminator": [
        171,
        46,
        157,
        35,
        78,
        224,
        13,
        173
      ]
    },
    {
      "name": "disputeLapsed",
      "discriminator": [
        110,
        243,
        74,
        196,
        17,
        87,
        213,
        241
      ]
    },
    {
      "name": "disputeOpened",
      "discriminator": [
        239,
        222,
        102,
        235,
        193,
        85,
        1,
        214
      ]
    },
    {
      "name": "disputeResolved",
      "discriminator": [
        121,
        64,
        249,
        153,
        139,
        128,
        236,
        187
      ]
    },
    {
      "name": "executionClosed",
      "discriminator": [
        150,
        23,
        224,
        12,
        35,
        228,
        246,
        39
      ]
    },
    {
      "name": "executionOpened",
      "discriminator": [
        51,
        67,
        44,
        143,
        202,
        114,
        244,
        80
      ]
    },
    {
      "name": "executionRefunded",
      "discriminator": [
        143,
        53,
        113,
        31,
        96,
        172,
        101,
        128
      ]
    },
    {
      "name": "executionSettled",
      "discriminator": [
        96,
        206,
        162,
        134,
        158,
        147,
        25,
        91
      ]
    },
    {
      "name": "executionsArchived",
      "discriminator": [
        221,
        125,
        235,
        189,
        164,
        64,
        46,
        40
      ]
    },
    {
      "name": "gasWithdrawn",
      "discriminator": [
        168,
        11,
        203,
        208,
        247,
        168,
        23,
        15
      ]
    },
    {
      "name": "grantClosed",
      "discriminator": [
        75,
        233,
        95,
        29,
        90,
        66,
        122,
        85
      ]
    },
    {
      "name": "grantCreated",
      "discriminator": [
        162,
        254,
        131,
        56,
        65,
        214,
        85,
        6
      ]
    },
    {
      "name": "grantRevoked",
      "discriminator": [
        192,
        60,
        253,
        12,
        110,
        158,
        200,
        30
      ]
    },
    {
      "name": "grantUpdated",
      "discriminator": [
        193,
        162,
        192,
        51,
        187,
        66,
        0,
        85
      ]
    },
    {
      "name": "listingStatusChanged",
      "discriminator": [
        104,
        176,
        127,
        45,
        229,
        105,
        208,
        33
      ]
    },
    {
      "name": "listingUpdated",
      "discriminator": [
        190,
        215,
        199,
        138,
        255,
        248,
        98,
        62
      ]
    },
    {
      "name": "relayAuthoritiesChanged",
      "discriminator": [
        99,
        235,
        44,
        142,
        179,
        107,
        163,
        153
      ]
    },
    {
      "name": "signingKeyRotated",
      "discriminator": [
        72,
        178,
        61,
        219,
        217,
        128,
        135,
        13
      ]
    },
    {
      "name": "treasuryWithdrawn",
      "discriminator": [
        143,
        181,
        157,
        169,
        87,
        155,
        170,
        46
      ]
    }
  ],
  "errors": [
    {
      "code": 6000,
      "name": "notUpgradeAuthority",
      "msg": "Only the program's upgrade authority may create the marketplace"
    },
    {
      "code": 6001,
      "name": "wrongProgramData",
      "msg": "This account is not the program's own ProgramData account"
    },
    {
      "code": 6002,
      "name": "invalidMint",
      "msg": "The settlement mint must belong to the classic Token program and have six decimals"
    },
    {
      "code": 6003,
      "name": "invalidAuthority",
      "msg": "The admin must not be the zero key"
    },
    {
      "code": 6004,
      "name": "invalidRelayAuthorities",
      "msg": "There must be 1 to 8 relay authorities, none twice and none the zero key"
    },
    {
      "code": 6005,
      "name": "feeOutOfBounds",
      "msg": "fee_bps must be between 0 and 100"
    },
    {
      "code": 6006,
      "name": "minPriceOutOfBounds",
      "msg": "min_price must be between 10000 and 1000000 base units"
    },
    {
      "code": 6007,
      "name": "disputeWindowOutOfBounds",
      "msg": "dispute_window_seconds must be between 259200 and 2592000"
    },
    {
      "code": 6008,
      "name": "refundGraceOutOfBounds",
      "msg": "refund_grace_seconds must be between 300 and 3600"
    },
    {
      "code": 6009,
      "name": "maxTimeoutOutOfBounds",
      "msg": "max_timeout_seconds must be between 60 and 86400"
    },
    {
      "code": 6010,
      "name": "bondOutOfBounds",
      "msg": "dispute_bond_lamports must be at most 1 SOL"
    },
    {
      "code": 6011,
      "name": "invalidTiers",
      "msg": "There must be 1 to 4 collateral tiers, strictly increasing, none below min_price"
    },
    {
      "code": 6012,
      "name": "notAdmin",
      "msg": "Only the admin may do this"
    },
    {
      "code": 6013,
      "name": "notPendingAdmin",
      "msg": "Only the proposed admin may accept"
    },
    {
      "code": 6014,
      "name": "notRelayAuthority",
      "msg": "Only a relay authority may do this"
    },
    {
      "code": 6015,
      "name": "wrongMint",
      "msg": "This is not the marketplace's settlement mint"
    },
    {
      "code": 6016,
      "name": "opensPaused",
      "msg": "New executions are paused"
    },
    {
      "code": 6017,
      "name": "notCreator",
      "msg": "Only the listing's creator may do this"
    },
    {
      "code": 6018,
      "name": "priceBelowMinimum",
      "msg": "The price is below the marketplace's minimum"
    },
    {
      "code": 6019,
      "name": "priceAboveTiers",
      "msg": "The price is above the last collateral tier"
    },
    {
      "code": 6020,
      "name": "invalidTimeouts",
      "msg": "Timeouts must satisfy 1 <= min_timeout_seconds <= timeout_seconds <= the marketplace's maximum"
    },
    {
      "code": 6021,
      "name": "invalidTags",
      "msg": "tag_mask must select 1 to 5 of the 10 standard tags"
    },
    {
      "code": 6022,
      "name": "uriTooLong",
      "msg": "metadata_uri must be at most 200 bytes"
    },
    {
      "code": 6023,
      "name": "invalidPayout",
      "msg": "The payout account must be a USDC account owned by the creator's wallet"
    },
    {
      "code": 6024,
      "name": "weakSigningKey",
      "msg": "The signing key is not a canonical Ed25519 key of large order"
    },
    {
      "code": 6025,
      "name": "signingKeyTaken",
      "msg": "This signing key already belongs to a listing"
    },
    {
      "code": 6026,
      "name": "invalidListingTransition",
      "msg": "A listing moves only between active and paused, and from either to delisted"
    },
    {
      "code": 6027,
      "name": "listingDelisted",
      "msg": "The listing is delisted"
    },
    {
      "code": 6028,
      "name": "listingNotActive",
      "msg": "The listing is not active"
    },
    {
      "code": 6029,
      "name": "invalidDepositSource",
      "msg": "The deposit account must be a USDC account owned by the creator's wallet"
    },
    {
      "code": 6030,
      "name": "collateralBelowTier",
      "msg": "The listing's collateral is below what its price requires"
    },
    {
      "code": 6031,
      "name": "exposureLimitReached",
      "msg": "The listing's exposure limit for this window is reached"
    },
    {
      "code": 6032,
      "name": "collateralInsolvent",
      "msg": "The collateral vault does not cover its liabilities"
    },
    {
      "code": 6033,
      "name": "collateralNotReturnable",
      "msg": "The collateral goes back once, after delisting, from returnable_at on"
    },
    {
      "code": 6034,
      "name": "disputesOpen",
      "msg": "The collateral waits for open disputes"
    },
    {
      "code": 6035,
      "name": "invalidKeyId",
      "msg": "A key id must not be all zero"
    },
    {
      "code": 6036,
      "name": "grantLimitZero",
      "msg": "Every limit of a grant but that of gas must be above zero"
    },
    {
      "code": 6037,
      "name": "grantExpiryOutOfBounds",
      "msg": "A grant must end in the future, at most a year from now"
    },
    {
      "code": 6038,
      "name": "grantGasOutOfBounds",
      "msg": "max_gas_lamports must be at most 100000"
    },
    {
      "code": 6039,
      "name": "notGrantWallet",
      "msg": "Only the grant's wallet may do this"
    },
    {
      "code": 6040,
      "name": "notGrantAuthority",
      "msg": "Only the grant's wallet or a relay authority may revoke it"
    },
    {
      "code": 6041,
      "name": "grantRevoked",
      "msg": "The grant is revoked"
    },
    {
      "code": 6042,
      "name": "grantExpired",
      "msg": "The grant has expired"
    },
    {
      "code": 6043,
      "name": "grantPerExecutionExceeded",
      "msg": "The price is above the grant's limit for one execution"
    },
    {
      "code": 6044,
      "name": "grantPeriodExceeded",
      "msg": "The price does not fit what is left of the grant's period"
    },
    {
      "code": 6045,
      "name": "grantTotalExceeded",
      "msg": "The price does not fit what is left of the grant"
    },
    {
      "code": 6046,
      "name": "grantGasExceeded",
      "msg": "The gas is above what the grant allows for one execution"
    },
    {
      "code": 6047,
      "name": "grantOverspent",
      "msg": "The grant's spend is above its limits"
    },
    {
      "code": 6048,
      "name": "grantInUse",
      "msg": "The grant paid for an execution in this very second; close it in the next"
    },
    {
      "code": 6049,
      "name": "wrongGrant",
      "msg": "This is not the grant that paid for the execution"
    },
    {
      "code": 6050,
      "name": "insufficientAllowance",
      "msg": "The wallet has not delegated enough USDC to its spender address"
    },
    {
      "code": 6051,
      "name": "tankTooLow",
      "msg": "The wallet's tank does not cover the gas, and the rent if it lends it"
    },
    {
      "code": 6052,
      "name": "tankBelowRent",
      "msg": "A tank must be left empty or with enough lamports to be rent-exempt"
    },
    {
      "code": 6053,
      "name": "wrongExecutionId",
      "msg": "The execution id does not follow from the caller and the nonce"
    },
    {
      "code": 6054,
      "name": "wrongNonceDay",
      "msg": "The nonce must begin with the UTC day of today or yesterday, as a little-endian u32"
    },
    {
      "code": 6055,
      "name": "priceAboveMax",
      "msg": "The price is above max_price"
    },
    {
      "code": 6056,
      "name": "listingVersionMismatch",
      "msg": "The listing has changed since listing_version"
    },
    {
      "code": 6057,
      "name": "timeoutOutOfRange",
      "msg": "The timeout is outside what the listing offers"
    },
    {
      "code": 6058,
      "name": "openTooLate",
      "msg": "This open is too late: open_before has passed"
    },
    {
      "code": 6059,
      "name": "gasOutOfBounds",
      "msg": "gas_lamports must be at most 100000"
    },
    {
      "code": 6060,
      "name": "invalidRentSponsor",
      "msg": "The rent sponsor must be able to receive lamports: a writable account that is no program"
    },
    {
      "code": 6061,
      "name": "invalidSource",
      "msg": "The paying account must be a USDC account owned by the caller"
    },
    {
      "code": 6062,
      "name": "insufficientBalance",
      "msg": "The paying account holds less than the price"
    },
    {
      "code": 6063,
      "name": "executionNotOpen",
      "msg": "The execution is not open"
    },
    {
      "code": 6064,
      "name": "settleWindowClosed",
      "msg": "From refund_at on an execution can only be refunded"
    },
    {
      "code": 6065,
      "name": "signatureInvalid",
      "msg": "The Ed25519 signature is not this key's over this message"
    },
    {
      "code": 6066,
      "name": "wrongListing",
      "msg": "This listing is not the one that the execution was opened for"
    },
    {
      "code": 6067,
      "name": "payoutUnusable",
      "msg": "The payout account must be a USDC account that the listing's creator owns, and not frozen"
    },
    {
      "code": 6068,
      "name": "refundTooEarly",
      "msg": "Before refund_at only a relay authority may refund"
    },
    {
      "code": 6069,
      "name": "wrongRefundDestination",
      "msg": "A refund goes to the caller's associated token account, or to any USDC account of a caller who signs"
    },
    {
      "code": 6070,
      "name": "refundDestinationUnusable",
      "msg": "The refund account cannot receive: it is missing, frozen or no longer the caller's"
    },
    {
      "code": 6071,
      "name": "wrongRentSponsor",
      "msg": "Rent goes back to the account that lent it"
    },
    {
      "code": 6072,
      "name": "executionNotEnded",
      "msg": "The execution has not ended"
    },
    {
      "code": 6073,
      "name": "closeTooEarly",
      "msg": "It is too early: a refunded execution stays three days, a paid one a year after its window, a dispute 30 days"
    },
    {
      "code": 6074,
      "name": "recordUnsound",
      "msg": "The record and its escrow do not agree"
    },
    {
      "code": 6075,
      "name": "notCaller",
      "msg": "Only the execution's caller may do this"
    },
    {
      "code": 6076,
      "name": "executionNotCompleted",
      "msg": "Only a completed execution can be disputed"
    },
    {
      "code": 6077,
      "name": "disputeWindowClosed",
      "msg": "The execution's dispute window has closed"
    },
    {
      "code": 6078,
      "name": "disputeExists",
      "msg": "The execution has been disputed before"
    },
    {
      "code": 6079,
      "name": "disputeNotOpen",
      "msg": "The dispute is not open"
    },
    {
      "code": 6080,
      "name": "slashAboveCollateral",
      "msg": "The slash is above what is left of the collateral"
    },
    {
      "code": 6081,
      "name": "otherDisputesStarved",
      "msg": "The treasury's part would leave less than other open disputes ask for"
    },
    {
      "code": 6082,
      "name": "nothingOwed",
      "msg": "The dispute owes nothing"
    },
    {
      "code": 6083,
      "name": "lapseTooEarly",
      "msg": "A dispute lapses 30 days after it was opened"
    },
    {
      "code": 6084,
      "name": "disputeNotEnded",
      "msg": "The dispute is open, or still owes an award"
    },
    {
      "code": 6085,
      "name": "disputeUnsound",
      "msg": "The dispute's amounts do not agree with its outcome"
    },
    {
      "code": 6086,
      "name": "invalidTree",
      "msg": "A tree must be a new account of this program: of the exact size, all zero and rent-exempt"
    },
    {
      "code": 6087,
      "name": "archiveTooEarly",
      "msg": "The archive before this one is not yet nine tenths full"
    },
    {
      "code": 6088,
      "name": "archiveFull",
      "msg": "The archive has no room left"
    },
    {
      "code": 6089,
      "name": "tooManyRecords",
      "msg": "At most 12 records can be archived at a time"
    },
    {
      "code": 6090,
      "name": "nothingToArchive",
      "msg": "None of these records can be archived now"
    },
    {
      "code": 6091,
      "name": "archiveUnsound",
      "msg": "The archive's count is not that of its tree"
    },
    {
      "code": 6092,
      "name": "accountExists",
      "msg": "The account to be made exists already"
    },
    {
      "code": 6093,
      "name": "wrongAddress",
      "msg": "This account is not at the address that its seeds make"
    },
    {
      "code": 6094,
      "name": "invalidAmount",
      "msg": "The amount must be above zero and no more than there is"
    },
    {
      "code": 6095,
      "name": "arithmeticOverflow",
      "msg": "An amount is out of range"
    },
    {
      "code": 6096,
      "name": "destinationUnusable",
      "msg": "The receiving account is missing, frozen or no USDC account"
    },
    {
      "code": 6097,
      "name": "wrongDestination",
      "msg": "This is not the account that the money belongs to"
    }
  ],
  "types": [
    {
      "name": "adminChanged",
      "docs": [
        "A proposed admin accepted."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "config",
            "type": "pubkey"
          },
          {
            "name": "admin",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "adminProposed",
      "docs": [
        "The admin proposed a successor, or with the zero key withdrew the proposal."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "config",
            "type": "pubkey"
          },
          {
            "name": "admin",
            "type": "pubkey"
          },
          {
            "name": "pendingAdmin",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "agentDelisted",
      "docs": [
        "A listing is gone for good."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "returnableAt",
            "docs": [
              "From when the collateral can go back, unix seconds."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "agentListed",
      "docs": [
        "A listing went live."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "creator",
            "type": "pubkey"
          },
          {
            "name": "listingId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "signingKey",
            "type": "pubkey"
          },
          {
            "name": "payout",
            "type": "pubkey"
          },
          {
            "name": "price",
            "docs": [
              "Base units of USDC."
            ],
            "type": "u64"
          },
          {
            "name": "timeoutSeconds",
            "type": "u32"
          },
          {
            "name": "minTimeoutSeconds",
            "type": "u32"
          },
          {
            "name": "tagMask",
            "type": "u16"
          },
          {
            "name": "listingVersion",
            "type": "u32"
          },
          {
            "name": "deposited",
            "docs": [
              "Collateral in the vault, base units."
            ],
            "type": "u64"
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who paid the vault's rent."
            ],
            "type": "pubkey"
          },
          {
            "name": "metadataHash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "metadataUri",
            "type": "string"
          },
          {
            "name": "listedAt",
            "docs": [
              "Unix seconds."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "agentListing",
      "docs": [
        "One agent on offer."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "status",
            "docs": [
              "Whether it takes new executions."
            ],
            "type": {
              "defined": {
                "name": "listingStatus"
              }
            }
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "creator",
            "docs": [
              "The creator's wallet."
            ],
            "type": "pubkey"
          },
          {
            "name": "listingId",
            "docs": [
              "Chosen by the creator; part of this address."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "payout",
            "docs": [
              "USDC account that settlements pay; owned by the creator's wallet."
            ],
            "type": "pubkey"
          },
          {
            "name": "signingKey",
            "docs": [
              "Ed25519 key that signs this listing's results from now on."
            ],
            "type": "pubkey"
          },
          {
            "name": "price",
            "docs": [
              "Price of one execution, base units."
            ],
            "type": "u64"
          },
          {
            "name": "timeoutSeconds",
            "docs": [
              "Longest wait a caller can ask for, and the default, seconds."
            ],
            "type": "u32"
          },
          {
            "name": "minTimeoutSeconds",
            "docs": [
              "Shortest wait a caller can ask for, seconds."
            ],
            "type": "u32"
          },
          {
            "name": "listingVersion",
            "docs": [
              "Starts at 1; grows by one with every change of the terms, so that a caller never pays for others than it saw."
            ],
            "type": "u32"
          },
          {
            "name": "tagMask",
            "docs": [
              "One bit for each standard tag."
            ],
            "type": "u16"
          },
          {
            "name": "metadataHash",
            "docs": [
              "SHA-256 of the metadata document."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "listedAt",
            "docs": [
              "When it was listed, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "metadataUri",
            "docs": [
              "Where the metadata document can be found."
            ],
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "archive",
      "docs": [
        "One of a line of archives and its tree."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "index",
            "docs": [
              "Its place in the line of archives, from 0."
            ],
            "type": "u16"
          },
          {
            "name": "tree",
            "docs": [
              "The account that holds the Merkle tree."
            ],
            "type": "pubkey"
          },
          {
            "name": "count",
            "docs": [
              "Leaves in the tree; the next one gets this index."
            ],
            "type": "u32"
          },
          {
            "name": "createdAt",
            "docs": [
              "When the tree was registered, unix seconds."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "archiveCreated",
      "docs": [
        "A tree was registered, and takes records from now on."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "archive",
            "type": "pubkey"
          },
          {
            "name": "index",
            "docs": [
              "Place of the archive in the line of all, from 0."
            ],
            "type": "u16"
          },
          {
            "name": "tree",
            "type": "pubkey"
          },
          {
            "name": "createdAt",
            "docs": [
              "Unix seconds."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "archivedExecution",
      "docs": [
        "One leaf: what its hash is made of."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "docs": [
              "Where the record was."
            ],
            "type": "pubkey"
          },
          {
            "name": "execution",
            "type": {
              "defined": {
                "name": "executionRecord"
              }
            }
          }
        ]
      }
    },
    {
      "name": "collateralReturned",
      "docs": [
        "What was left of the collateral went back to its creator."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "destination",
            "type": "pubkey"
          },
          {
            "name": "amount",
            "docs": [
              "Base units sent, dust included."
            ],
            "type": "u64"
          },
          {
            "name": "owed",
            "docs": [
              "Base units that stay for awards not yet claimed."
            ],
            "type": "u64"
          },
          {
            "name": "vaultClosed",
            "type": "bool"
          }
        ]
      }
    },
    {
      "name": "collateralTier",
      "docs": [
        "How much collateral a listing of a given price must hold."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "maxPrice",
            "docs": [
              "Highest price of this tier, base units, inclusive."
            ],
            "type": "u64"
          },
          {
            "name": "deposit",
            "docs": [
              "Deposit that a listing of this tier must keep, base units."
            ],
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "collateralToppedUp",
      "docs": [
        "A creator added to its collateral."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "amount",
            "type": "u64"
          },
          {
            "name": "deposited",
            "type": "u64"
          },
          {
            "name": "slashed",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "config",
      "docs": [
        "Settings that instructions read. The admin changes them within the bounds of `constants.rs`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "treasuryBump",
            "docs": [
              "Bump of the treasury."
            ],
            "type": "u8"
          },
          {
            "name": "opensPaused",
            "docs": [
              "True stops every new execution; settling and refunding go on."
            ],
            "type": "bool"
          },
          {
            "name": "feeBps",
            "docs": [
              "The marketplace's share of a settled price, 0 to 100 basis points."
            ],
            "type": "u16"
          },
          {
            "name": "tierCount",
            "docs": [
              "How many of `tiers` are in use, 1 to 4."
            ],
            "type": "u8"
          },
          {
            "name": "relayAuthorityCount",
            "docs": [
              "How many of `relay_authorities` are in use, 1 to 8."
            ],
            "type": "u8"
          },
          {
            "name": "admin",
            "docs": [
              "Who may change settings, verify creators and resolve disputes."
            ],
            "type": "pubkey"
          },
          {
            "name": "pendingAdmin",
            "docs": [
              "Who may become admin by accepting; the zero key when nobody."
            ],
            "type": "pubkey"
          },
          {
            "name": "usdcMint",
            "docs": [
              "The one settlement mint: six decimals, classic Token program. Fixed for ever."
            ],
            "type": "pubkey"
          },
          {
            "name": "minPrice",
            "docs": [
              "Lowest price of a listing, base units."
            ],
            "type": "u64"
          },
          {
            "name": "disputeBondLamports",
            "docs": [
              "Bond that opening a dispute takes, lamports."
            ],
            "type": "u64"
          },
          {
            "name": "disputeWindowSeconds",
            "docs": [
              "How long after its settle an execution can be disputed; copied into each record at open."
            ],
            "type": "u32"
          },
          {
            "name": "refundGraceSeconds",
            "docs": [
              "Time between an execution's deadline and the moment from which anyone may refund it."
            ],
            "type": "u32"
          },
          {
            "name": "maxTimeoutSeconds",
            "docs": [
              "Longest timeout a listing may offer."
            ],
            "type": "u32"
          },
          {
            "name": "longestSpanSeconds",
            "docs": [
              "The largest max_timeout + refund_grace + dispute_window ever in force; only grows."
            ],
            "type": "u32"
          },
          {
            "name": "exposureMultiple",
            "docs": [
              "Prices opened in one dispute window may reach this multiple of a listing's collateral; 0 = no limit."
            ],
            "type": "u32"
          },
          {
            "name": "tiers",
            "docs": [
              "Collateral tiers, strictly increasing in both fields; unused ones are zero."
            ],
            "type": {
              "array": [
                {
                  "defined": {
                    "name": "collateralTier"
                  }
                },
                4
              ]
            }
          },
          {
            "name": "relayAuthorities",
            "docs": [
              "Who may settle and refund any execution, and open on behalf of keys; each relay process has one of its own,",
              "so that no account is written by all of them. Unused ones are zero."
            ],
            "type": {
              "array": [
                "pubkey",
                8
              ]
            }
          },
          {
            "name": "reserved",
            "docs": [
              "Zero. New settings get accounts of their own; this is for what cannot."
            ],
            "type": {
              "array": [
                "u8",
                64
              ]
            }
          }
        ]
      }
    },
    {
      "name": "configInitialized",
      "docs": [
        "The marketplace was created."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "config",
            "type": "pubkey"
          },
          {
            "name": "admin",
            "type": "pubkey"
          },
          {
            "name": "relayAuthorities",
            "type": {
              "vec": "pubkey"
            }
          },
          {
            "name": "usdcMint",
            "type": "pubkey"
          },
          {
            "name": "treasury",
            "type": "pubkey"
          },
          {
            "name": "settings",
            "type": {
              "defined": {
                "name": "configSettings"
              }
            }
          }
        ]
      }
    },
    {
      "name": "configSettings",
      "docs": [
        "All settings, as they are after the transition."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "opensPaused",
            "type": "bool"
          },
          {
            "name": "feeBps",
            "type": "u16"
          },
          {
            "name": "minPrice",
            "docs": [
              "Base units."
            ],
            "type": "u64"
          },
          {
            "name": "disputeBondLamports",
            "type": "u64"
          },
          {
            "name": "disputeWindowSeconds",
            "type": "u32"
          },
          {
            "name": "refundGraceSeconds",
            "type": "u32"
          },
          {
            "name": "maxTimeoutSeconds",
            "type": "u32"
          },
          {
            "name": "longestSpanSeconds",
            "type": "u32"
          },
          {
            "name": "exposureMultiple",
            "type": "u32"
          },
          {
            "name": "tiers",
            "docs": [
              "Those in use, lowest first."
            ],
            "type": {
              "vec": {
                "defined": {
                  "name": "collateralTier"
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "configUpdated",
      "docs": [
        "The admin changed settings; all of them after the change."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "config",
            "type": "pubkey"
          },
          {
            "name": "settings",
            "type": {
              "defined": {
                "name": "configSettings"
              }
            }
          }
        ]
      }
    },
    {
      "name": "createArchiveArgs",
      "docs": [
        "Arguments of `create_archive`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "index",
            "docs": [
              "Its place in the line of archives, from 0."
            ],
            "type": "u16"
          }
        ]
      }
    },
    {
      "name": "createGrantArgs",
      "docs": [
        "Arguments of `create_grant`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "keyId",
            "docs": [
              "First 16 bytes of SHA-256 of the whole API key."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "limits",
            "docs": [
              "Caps and end of the right."
            ],
            "type": {
              "defined": {
                "name": "grantLimits"
              }
            }
          }
        ]
      }
    },
    {
      "name": "creatorCollateral",
      "docs": [
        "Book-keeping of one collateral vault, all amounts in base units of USDC."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "returned",
            "docs": [
              "True once all that was left went back to the creator; the vault stays while an award is owed."
            ],
            "type": "bool"
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "vaultBump",
            "docs": [
              "Bump of the vault."
            ],
            "type": "u8"
          },
          {
            "name": "listing",
            "docs": [
              "The listing this collateral stands for."
            ],
            "type": "pubkey"
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who paid the vault's rent and gets it back when the vault closes."
            ],
            "type": "pubkey"
          },
          {
            "name": "deposited",
            "docs": [
              "Ever deposited by the creator."
            ],
            "type": "u64"
          },
          {
            "name": "slashed",
            "docs": [
              "Ever taken by upheld disputes, whether paid out or still owed."
            ],
            "type": "u64"
          },
          {
            "name": "owed",
            "docs": [
              "Slashed, but waiting for a caller's account that can receive it."
            ],
            "type": "u64"
          },
          {
            "name": "disputedAmount",
            "docs": [
              "Prices of the executions under open disputes."
            ],
            "type": "u64"
          },
          {
            "name": "exposureOpened",
            "docs": [
              "Prices opened since `exposure_window_start`."
            ],
            "type": "u64"
          },
          {
            "name": "exposureWindowStart",
            "docs": [
              "Start of the window over which exposure is counted, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "returnableAt",
            "docs": [
              "When the deposit may go back, unix seconds; 0 before delisting."
            ],
            "type": "i64"
          },
          {
            "name": "openDisputes",
            "docs": [
              "How many disputes wait for an outcome."
            ],
            "type": "u32"
          },
          {
            "name": "reserved",
            "docs": [
              "Zero; room for what later versions must keep here."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          }
        ]
      }
    },
    {
      "name": "creatorProfile",
      "docs": [
        "The outcome of a manual identity check."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "verified",
            "docs": [
              "Whether the badge is shown."
            ],
            "type": "bool"
          },
          {
            "name": "creator",
            "docs": [
              "The creator's wallet."
            ],
            "type": "pubkey"
          },
          {
            "name": "verifiedAt",
            "docs": [
              "When the badge was given, unix seconds; 0 without one."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "creatorVerificationChanged",
      "docs": [
        "The admin gave or took a creator's badge."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "creator",
            "type": "pubkey"
          },
          {
            "name": "verified",
            "type": "bool"
          },
          {
            "name": "verifiedAt",
            "docs": [
              "Unix seconds; 0 when the badge was taken."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "dispute",
      "docs": [
        "The claim, its bond and its outcome."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "outcome",
            "docs": [
              "Where it stands."
            ],
            "type": {
              "defined": {
                "name": "disputeOutcome"
              }
            }
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "record",
            "docs": [
              "The disputed record."
            ],
            "type": "pubkey"
          },
          {
            "name": "listing",
            "docs": [
              "The record's listing, whose collateral answers."
            ],
            "type": "pubkey"
          },
          {
            "name": "caller",
            "docs": [
              "Who disputes: the record's caller."
            ],
            "type": "pubkey"
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who paid this account's rent and the bond."
            ],
            "type": "pubkey"
          },
          {
            "name": "evidenceHash",
            "docs": [
              "SHA-256 of the evidence, whose URI is in the event."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "reasonHash",
            "docs": [
              "SHA-256 of the admin's written reason; zero before the outcome."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "openedAt",
            "docs": [
              "When it was opened, unix seconds; the answer is due 72 hours later."
            ],
            "type": "i64"
          },
          {
            "name": "bond",
            "docs": [
              "Lamports held in this account as bond, as far as they are not paid out."
            ],
            "type": "u64"
          },
          {
            "name": "price",
            "docs": [
              "Price of the disputed execution, base units."
            ],
            "type": "u64"
          },
          {
            "name": "amountToCaller",
            "docs": [
              "Slashed collateral that went, or is owed, to the caller, base units."
            ],
            "type": "u64"
          },
          {
            "name": "amountToTreasury",
            "docs": [
              "Slashed collateral that went to the treasury, base units."
            ],
            "type": "u64"
          },
          {
            "name": "owed",
            "docs": [
              "Part of `amount_to_caller` that waits until the caller's account can receive it, base units."
            ],
            "type": "u64"
          },
          {
            "name": "resolvedAt",
            "docs": [
              "When the outcome was reached, unix seconds; 0 while open."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "disputeAwardClaimed",
      "docs": [
        "An award that waited for the caller's account was paid."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "dispute",
            "type": "pubkey"
          },
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "caller",
            "type": "pubkey"
          },
          {
            "name": "amount",
            "docs": [
              "Base units."
            ],
            "type": "u64"
          },
          {
            "name": "vaultClosed",
            "type": "bool"
          }
        ]
      }
    },
    {
      "name": "disputeClosed",
      "docs": [
        "An ended dispute's account is gone."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "dispute",
            "type": "pubkey"
          },
          {
            "name": "record",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "disputeLapsed",
      "docs": [
        "Nobody answered a dispute in time."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "dispute",
            "type": "pubkey"
          },
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "bond",
            "docs": [
              "Lamports of the bond that were paid back."
            ],
            "type": "u64"
          },
          {
            "name": "bondTo",
            "type": "pubkey"
          },
          {
            "name": "resolvedAt",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "disputeOpened",
      "docs": [
        "A caller disputes a result."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "dispute",
            "type": "pubkey"
          },
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "caller",
            "type": "pubkey"
          },
          {
            "name": "evidenceHash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "evidenceUri",
            "type": "string"
          },
          {
            "name": "price",
            "docs": [
              "Price of the disputed execution, base units."
            ],
            "type": "u64"
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who paid rent and bond."
            ],
            "type": "pubkey"
          },
          {
            "name": "bond",
            "docs": [
              "Lamports."
            ],
            "type": "u64"
          },
          {
            "name": "openedAt",
            "docs": [
              "Unix seconds; the answer is due 72 hours later."
            ],
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "disputeOutcome",
      "docs": [
        "Where a dispute stands."
      ],
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "open"
          },
          {
            "name": "rejected"
          },
          {
            "name": "upheld"
          },
          {
            "name": "lapsed"
          }
        ]
      }
    },
    {
      "name": "disputeResolved",
      "docs": [
        "The admin answered a dispute."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "dispute",
            "type": "pubkey"
          },
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "upheld",
            "type": "bool"
          },
          {
            "name": "amountToCaller",
            "docs": [
              "Base units that went, or are owed, to the caller."
            ],
            "type": "u64"
          },
          {
            "name": "amountToTreasury",
            "docs": [
              "Base units that went to the treasury."
            ],
            "type": "u64"
          },
          {
            "name": "owed",
            "docs": [
              "Part of `amount_to_caller` that waits for an account that can receive it."
            ],
            "type": "u64"
          },
          {
            "name": "bond",
            "docs": [
              "Lamports of the bond that were paid out."
            ],
            "type": "u64"
          },
          {
            "name": "bondTo",
            "docs": [
              "The creator where rejected, who paid the bond where upheld."
            ],
            "type": "pubkey"
          },
          {
            "name": "reasonHash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "resolvedAt",
            "type": "i64"
          },
          {
            "name": "deposited",
            "docs": [
              "The collateral's figures after it, base units."
            ],
            "type": "u64"
          },
          {
            "name": "slashed",
            "type": "u64"
          },
          {
            "name": "listingStatus",
            "docs": [
              "0 active, 1 paused, 2 delisted, after a pause by this slash."
            ],
            "type": "u8"
          }
        ]
      }
    },
    {
      "name": "executionClosed",
      "docs": [
        "An ended execution's account is gone, without a leaf."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "caller",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "executionOpened",
      "docs": [
        "A caller's price moved into escrow."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "caller",
            "type": "pubkey"
          },
          {
            "name": "signingKey",
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "docs": [
              "All zero when the wallet opened it itself."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "rentSponsor",
            "type": "pubkey"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "feeBps",
            "type": "u16"
          },
          {
            "name": "listingVersion",
            "type": "u32"
          },
          {
            "name": "requestHash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "openedAt",
            "type": "i64"
          },
          {
            "name": "deadline",
            "type": "i64"
          },
          {
            "name": "refundAt",
            "type": "i64"
          },
          {
            "name": "disputeWindowSeconds",
            "type": "u32"
          },
          {
            "name": "gasLamports",
            "docs": [
              "Lamports parked for the relay authority that ends it."
            ],
            "type": "u32"
          },
          {
            "name": "grantExecutionCount",
            "docs": [
              "The grant's count and spend after this open; 0 when the wallet opened it itself."
            ],
            "type": "u64"
          },
          {
            "name": "grantTotalSpent",
            "type": "u64"
          },
          {
            "name": "grantPeriodStart",
            "docs": [
              "The grant's period after this open, unix seconds, and its spend; 0 when the wallet opened it itself."
            ],
            "type": "i64"
          },
          {
            "name": "grantPeriodSpent",
            "type": "u64"
          },
          {
            "name": "exposureWindowStart",
            "docs": [
              "The listing's exposure after this open: start of its window, unix seconds, and prices opened in it."
            ],
            "type": "i64"
          },
          {
            "name": "exposureOpened",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "executionRecord",
      "docs": [
        "Terms and outcome of one execution."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "status",
            "docs": [
              "Where the money is."
            ],
            "type": {
              "defined": {
                "name": "executionStatus"
              }
            }
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "escrowBump",
            "docs": [
              "Bump of the escrow."
            ],
            "type": "u8"
          },
          {
            "name": "executionId",
            "docs": [
              "The id, a UUID of version 8 bound to the caller."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "docs": [
              "The listing that was called."
            ],
            "type": "pubkey"
          },
          {
            "name": "caller",
            "docs": [
              "The wallet that paid."
            ],
            "type": "pubkey"
          },
          {
            "name": "signingKey",
            "docs": [
              "The listing's signing key at open; only its signature settles."
            ],
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "docs": [
              "Key whose grant paid; zero when the wallet opened it itself."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who lent this account's and the escrow's rent and gets it back: a wallet, a tank, or who a payer named."
            ],
            "type": "pubkey"
          },
          {
            "name": "price",
            "docs": [
              "Price, base units."
            ],
            "type": "u64"
          },
          {
            "name": "requestHash",
            "docs": [
              "SHA-256 of the canonical JSON `{\"parameters\":…,\"task\":…}`."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "resultHash",
            "docs": [
              "SHA-256 of the result; zero until settled."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "openedAt",
            "docs": [
              "When the escrow was funded, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "deadline",
            "docs": [
              "When the creator's answer is due, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "refundAt",
            "docs": [
              "From this moment only a refund is possible, and anyone may trigger it, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "settledAt",
            "docs": [
              "When it settled or was refunded, unix seconds; 0 while open."
            ],
            "type": "i64"
          },
          {
            "name": "disputeWindowSeconds",
            "docs": [
              "How long after its settle it can be disputed."
            ],
            "type": "u32"
          },
          {
            "name": "listingVersion",
            "docs": [
              "The listing's version that was paid for."
            ],
            "type": "u32"
          },
          {
            "name": "executionTimeMs",
            "docs": [
              "Dispatch to result, milliseconds, as the relay measured it; 0 until settled."
            ],
            "type": "u32"
          },
          {
            "name": "gasLamports",
            "docs": [
              "Lamports parked here at open for the relay authority that ends the execution; where anyone else does, they",
              "go to `rent_sponsor`. Stays as it was at open."
            ],
            "type": "u32"
          },
          {
            "name": "feeBps",
            "docs": [
              "Fee in force; becomes 0 when a frozen treasury waives it."
            ],
            "type": "u16"
          }
        ]
      }
    },
    {
      "name": "executionRefunded",
      "docs": [
        "The escrow went back to the caller."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "caller",
            "type": "pubkey"
          },
          {
            "name": "amount",
            "docs": [
              "Base units that left the escrow, dust included."
            ],
            "type": "u64"
          },
          {
            "name": "reason",
            "docs": [
              "See `RefundReason`."
            ],
            "type": "u8"
          },
          {
            "name": "refundedAt",
            "type": "i64"
          },
          {
            "name": "grantRestored",
            "docs": [
              "True when the key's grant got its spend back."
            ],
            "type": "bool"
          },
          {
            "name": "grantTotalSpent",
            "docs": [
              "The grant's spend after this refund, whole and of its period; 0 when nothing was given back."
            ],
            "type": "u64"
          },
          {
            "name": "grantPeriodSpent",
            "type": "u64"
          },
          {
            "name": "gasTo",
            "docs": [
              "Who got the gas that was parked, and how many lamports of it."
            ],
            "type": "pubkey"
          },
          {
            "name": "gasLamports",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "executionSettled",
      "docs": [
        "The escrow was released against the creator's signature."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "executionId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "resultHash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "creatorAmount",
            "docs": [
              "Base units paid to the creator: price minus fee."
            ],
            "type": "u64"
          },
          {
            "name": "platformAmount",
            "docs": [
              "Base units paid to the treasury as fee, without dust."
            ],
            "type": "u64"
          },
          {
            "name": "feeBps",
            "docs": [
              "Basis points in force; 0 where a frozen treasury waived the fee."
            ],
            "type": "u16"
          },
          {
            "name": "feeWaived",
            "docs": [
              "True when the treasury could not receive and the creator got everything."
            ],
            "type": "bool"
          },
          {
            "name": "executionTimeMs",
            "type": "u32"
          },
          {
            "name": "settledAt",
            "type": "i64"
          },
          {
            "name": "payout",
            "docs": [
              "The creator's account that was paid."
            ],
            "type": "pubkey"
          },
          {
            "name": "gasTo",
            "docs": [
              "Who got the gas that was parked, and how many lamports of it."
            ],
            "type": "pubkey"
          },
          {
            "name": "gasLamports",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "executionStatus",
      "docs": [
        "Where an execution's money is."
      ],
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "open"
          },
          {
            "name": "completed"
          },
          {
            "name": "refunded"
          },
          {
            "name": "disputed"
          },
          {
            "name": "disputeUpheld"
          }
        ]
      }
    },
    {
      "name": "executionsArchived",
      "docs": [
        "Records became leaves and their accounts went. It is the only trace of their fields, so it is not printed but",
        "sent as the data of a call of the program to itself, which nothing can cut short."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "archive",
            "type": "pubkey"
          },
          {
            "name": "tree",
            "type": "pubkey"
          },
          {
            "name": "firstIndex",
            "docs": [
              "Leaf of the first execution; the others follow in their order."
            ],
            "type": "u32"
          },
          {
            "name": "executions",
            "type": {
              "vec": {
                "defined": {
                  "name": "archivedExecution"
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "gasWithdrawn",
      "docs": [
        "Lamports left a wallet's tank for the wallet."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "spender",
            "docs": [
              "The tank."
            ],
            "type": "pubkey"
          },
          {
            "name": "lamports",
            "type": "u64"
          },
          {
            "name": "remaining",
            "docs": [
              "Lamports left in the tank."
            ],
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "grantClosed",
      "docs": [
        "A grant's account is gone, and its right with it."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "grant",
            "type": "pubkey"
          },
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          }
        ]
      }
    },
    {
      "name": "grantCreated",
      "docs": [
        "A wallet gave an API key a spending right."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "grant",
            "type": "pubkey"
          },
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "perExecutionMax",
            "type": "u64"
          },
          {
            "name": "periodMax",
            "type": "u64"
          },
          {
            "name": "totalMax",
            "type": "u64"
          },
          {
            "name": "periodSeconds",
            "type": "u32"
          },
          {
            "name": "maxGasLamports",
            "type": "u32"
          },
          {
            "name": "expiresAt",
            "type": "i64"
          },
          {
            "name": "createdAt",
            "type": "i64"
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who paid the grant's rent."
            ],
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "grantLimits",
      "docs": [
        "The limits of a grant; every one but that of gas must be above zero."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "perExecutionMax",
            "docs": [
              "Most that one execution may cost, base units, inclusive."
            ],
            "type": "u64"
          },
          {
            "name": "periodMax",
            "docs": [
              "Most that may be spent in one period, base units, inclusive."
            ],
            "type": "u64"
          },
          {
            "name": "totalMax",
            "docs": [
              "Most that may ever be spent, base units, inclusive."
            ],
            "type": "u64"
          },
          {
            "name": "periodSeconds",
            "docs": [
              "Length of a period, seconds; periods follow one another from `created_at`."
            ],
            "type": "u32"
          },
          {
            "name": "expiresAt",
            "docs": [
              "The right ends at this moment, unix seconds; at most a year from now."
            ],
            "type": "i64"
          },
          {
            "name": "maxGasLamports",
            "docs": [
              "Most that one execution may take from the wallet's tank as gas, lamports; 0 takes none."
            ],
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "grantRevoked",
      "docs": [
        "A key's spending right ended for good."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "grant",
            "type": "pubkey"
          },
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          }
        ]
      }
    },
    {
      "name": "grantUpdated",
      "docs": [
        "A wallet changed a key's limits."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "grant",
            "type": "pubkey"
          },
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "perExecutionMax",
            "type": "u64"
          },
          {
            "name": "periodMax",
            "type": "u64"
          },
          {
            "name": "totalMax",
            "type": "u64"
          },
          {
            "name": "periodSeconds",
            "type": "u32"
          },
          {
            "name": "maxGasLamports",
            "type": "u32"
          },
          {
            "name": "expiresAt",
            "type": "i64"
          },
          {
            "name": "periodStart",
            "docs": [
              "The period that counts now, which a new length begins anew, and its spend."
            ],
            "type": "i64"
          },
          {
            "name": "periodSpent",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "initializeConfigArgs",
      "docs": [
        "First settings; each within the bounds of `constants.rs`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "admin",
            "docs": [
              "Who may change settings, verify creators and resolve disputes."
            ],
            "type": "pubkey"
          },
          {
            "name": "relayAuthorities",
            "docs": [
              "Who may settle and refund, and open for API keys: 1 to 8 distinct keys."
            ],
            "type": {
              "vec": "pubkey"
            }
          },
          {
            "name": "feeBps",
            "docs": [
              "The marketplace's share, basis points."
            ],
            "type": "u16"
          },
          {
            "name": "minPrice",
            "docs": [
              "Lowest price, base units."
            ],
            "type": "u64"
          },
          {
            "name": "disputeBondLamports",
            "docs": [
              "Bond of a dispute, lamports."
            ],
            "type": "u64"
          },
          {
            "name": "disputeWindowSeconds",
            "docs": [
              "How long after its settle an execution can be disputed."
            ],
            "type": "u32"
          },
          {
            "name": "refundGraceSeconds",
            "docs": [
              "Time from an execution's deadline to the refund that anyone may trigger."
            ],
            "type": "u32"
          },
          {
            "name": "maxTimeoutSeconds",
            "docs": [
              "Longest timeout a listing may offer."
            ],
            "type": "u32"
          },
          {
            "name": "exposureMultiple",
            "docs": [
              "Limit of the prices opened in a window as a multiple of the collateral; 0 = none."
            ],
            "type": "u32"
          },
          {
            "name": "tiers",
            "docs": [
              "1 to 4 tiers, strictly increasing."
            ],
            "type": {
              "vec": {
                "defined": {
                  "name": "collateralTier"
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "keyGrant",
      "docs": [
        "One key's right to spend from one wallet."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "revoked",
            "docs": [
              "True once revoked; never becomes false again."
            ],
            "type": "bool"
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "spenderBump",
            "docs": [
              "Bump of the wallet's `Spender` address."
            ],
            "type": "u8"
          },
          {
            "name": "sourceBump",
            "docs": [
              "Bump of the wallet's associated USDC account."
            ],
            "type": "u8"
          },
          {
            "name": "wallet",
            "docs": [
              "The wallet whose USDC may be spent."
            ],
            "type": "pubkey"
          },
          {
            "name": "keyId",
            "docs": [
              "First 16 bytes of SHA-256 of the whole API key."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "rentSponsor",
            "docs": [
              "Who paid this account's rent and gets it back."
            ],
            "type": "pubkey"
          },
          {
            "name": "perExecutionMax",
            "docs": [
              "Most that one execution may cost, base units."
            ],
            "type": "u64"
          },
          {
            "name": "periodMax",
            "docs": [
              "Most that may be spent in one period, base units."
            ],
            "type": "u64"
          },
          {
            "name": "totalMax",
            "docs": [
              "Most that may ever be spent, base units."
            ],
            "type": "u64"
          },
          {
            "name": "periodSeconds",
            "docs": [
              "Length of a period, seconds."
            ],
            "type": "u32"
          },
          {
            "name": "expiresAt",
            "docs": [
              "The right ends at this moment, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "createdAt",
            "docs": [
              "When it was made, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "periodStart",
            "docs": [
              "Start of the period that `period_spent` counts, unix seconds."
            ],
            "type": "i64"
          },
          {
            "name": "periodSpent",
            "docs": [
              "Spent in that period, refunds taken off, base units."
            ],
            "type": "u64"
          },
          {
            "name": "totalSpent",
            "docs": [
              "Spent since `created_at`, refunds taken off, base units."
            ],
            "type": "u64"
          },
          {
            "name": "executionCount",
            "docs": [
              "Executions opened with this key, refunded ones too."
            ],
            "type": "u64"
          },
          {
            "name": "lastOpenedAt",
            "docs": [
              "When the latest of them was opened, unix seconds; 0 before the first."
            ],
            "type": "i64"
          },
          {
            "name": "maxGasLamports",
            "docs": [
              "Most that one execution may take from the wallet's tank as gas, lamports."
            ],
            "type": "u32"
          },
          {
            "name": "reserved",
            "docs": [
              "Zero; room for what later versions must keep here."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          }
        ]
      }
    },
    {
      "name": "listAgentArgs",
      "docs": [
        "Arguments of `list_agent`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listingId",
            "docs": [
              "Chosen by the creator, any 16 bytes; part of the listing's address."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "signingKey",
            "docs": [
              "Ed25519 key that will sign this agent's results."
            ],
            "type": "pubkey"
          },
          {
            "name": "possession",
            "docs": [
              "That key's Ed25519 signature over `agent-marketplace:register:v1:` and the listing's 32 bytes."
            ],
            "type": {
              "array": [
                "u8",
                64
              ]
            }
          },
          {
            "name": "terms",
            "docs": [
              "Price, timeouts, tags, metadata."
            ],
            "type": {
              "defined": {
                "name": "listingTerms"
              }
            }
          }
        ]
      }
    },
    {
      "name": "listingStatus",
      "docs": [
        "Whether a listing takes new executions."
      ],
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "active"
          },
          {
            "name": "paused"
          },
          {
            "name": "delisted"
          }
        ]
      }
    },
    {
      "name": "listingStatusChanged",
      "docs": [
        "A creator paused or resumed a listing."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "status",
            "docs": [
              "0 active, 1 paused, 2 delisted."
            ],
            "type": "u8"
          }
        ]
      }
    },
    {
      "name": "listingTerms",
      "docs": [
        "The terms of a listing that its creator chooses."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "price",
            "docs": [
              "Price of one execution, base units of USDC."
            ],
            "type": "u64"
          },
          {
            "name": "timeoutSeconds",
            "docs": [
              "Longest wait a caller can ask for, and the default, seconds."
            ],
            "type": "u32"
          },
          {
            "name": "minTimeoutSeconds",
            "docs": [
              "Shortest wait a caller can ask for, seconds, at least 1."
            ],
            "type": "u32"
          },
          {
            "name": "tagMask",
            "docs": [
              "One bit for each standard tag, 1 to 5 of them; see `STANDARD_TAG_COUNT`."
            ],
            "type": "u16"
          },
          {
            "name": "metadataHash",
            "docs": [
              "SHA-256 of the canonical JSON document that describes the agent."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "metadataUri",
            "docs": [
              "Where that document can be found; at most 200 bytes, may be empty."
            ],
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "listingUpdated",
      "docs": [
        "A creator changed what a listing promises or where it is paid."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "payout",
            "type": "pubkey"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "timeoutSeconds",
            "type": "u32"
          },
          {
            "name": "minTimeoutSeconds",
            "type": "u32"
          },
          {
            "name": "tagMask",
            "type": "u16"
          },
          {
            "name": "listingVersion",
            "type": "u32"
          },
          {
            "name": "metadataHash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "metadataUri",
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "openDisputeArgs",
      "docs": [
        "Arguments of `open_dispute`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "evidenceHash",
            "docs": [
              "SHA-256 of the evidence."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "evidenceUri",
            "docs": [
              "Where it can be found; at most 200 bytes, may be empty; kept in the event only."
            ],
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "openExecutionArgs",
      "docs": [
        "Arguments of both opens."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "nonce",
            "docs": [
              "The UTC day as a little-endian u32, then 12 bytes: random, or derived from an idempotency key."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "executionId",
            "docs": [
              "What caller and nonce make; given so that the record's address can be known, and checked."
            ],
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "maxPrice",
            "docs": [
              "Most that the caller agreed to pay, base units."
            ],
            "type": "u64"
          },
          {
            "name": "listingVersion",
            "docs": [
              "The listing version that the caller saw."
            ],
            "type": "u32"
          },
          {
            "name": "timeoutSeconds",
            "docs": [
              "How long the creator has for its answer."
            ],
            "type": "u32"
          },
          {
            "name": "requestHash",
            "docs": [
              "SHA-256 of the canonical JSON `{\"parameters\":…,\"task\":…}`."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "openBefore",
            "docs": [
              "The open fails after this moment, unix seconds, so that a late one cannot surprise anybody."
            ],
            "type": "i64"
          },
          {
            "name": "gasLamports",
            "docs": [
              "Lamports to park in the record for the relay authority that ends the execution, at most `MAX_GAS_LAMPORTS`:",
              "from the wallet's tank where a grant opens, else from the payer."
            ],
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "proposeAdminArgs",
      "docs": [
        "Arguments of `propose_admin`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "pendingAdmin",
            "docs": [
              "Who may become admin by accepting; the zero key withdraws the proposal."
            ],
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "refundExecutionArgs",
      "docs": [
        "Arguments of `refund_execution`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "reason",
            "docs": [
              "Why; anyone but the relay always refunds for `Expired`."
            ],
            "type": {
              "defined": {
                "name": "refundReason"
              }
            }
          }
        ]
      }
    },
    {
      "name": "refundReason",
      "docs": [
        "Why the relay refunded; kept in the event, so that listings are judged only for their own faults."
      ],
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "creatorFailed"
          },
          {
            "name": "creatorTimeout"
          },
          {
            "name": "invalidAnswer"
          },
          {
            "name": "payoutUnusable"
          },
          {
            "name": "unserved"
          },
          {
            "name": "expired"
          }
        ]
      }
    },
    {
      "name": "relayAuthoritiesChanged",
      "docs": [
        "Other keys sign settles, and opens for API keys."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "config",
            "type": "pubkey"
          },
          {
            "name": "relayAuthorities",
            "docs": [
              "All of them, after the change."
            ],
            "type": {
              "vec": "pubkey"
            }
          }
        ]
      }
    },
    {
      "name": "resolveDisputeArgs",
      "docs": [
        "Arguments of `resolve_dispute`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "upheld",
            "docs": [
              "True finds for the caller."
            ],
            "type": "bool"
          },
          {
            "name": "amount",
            "docs": [
              "How much of the collateral is slashed, base units; 0 where rejected."
            ],
            "type": "u64"
          },
          {
            "name": "reasonHash",
            "docs": [
              "SHA-256 of the admin's written reason."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          }
        ]
      }
    },
    {
      "name": "rotateSigningKeyArgs",
      "docs": [
        "Arguments of `rotate_signing_key`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "signingKey",
            "docs": [
              "Ed25519 key that signs results of executions opened from now on."
            ],
            "type": "pubkey"
          },
          {
            "name": "possession",
            "docs": [
              "That key's Ed25519 signature over `agent-marketplace:register:v1:` and the listing's 32 bytes."
            ],
            "type": {
              "array": [
                "u8",
                64
              ]
            }
          }
        ]
      }
    },
    {
      "name": "setCreatorVerifiedArgs",
      "docs": [
        "Arguments of `set_creator_verified`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "creator",
            "docs": [
              "The creator's wallet."
            ],
            "type": "pubkey"
          },
          {
            "name": "verified",
            "docs": [
              "Whether the badge is shown from now on."
            ],
            "type": "bool"
          }
        ]
      }
    },
    {
      "name": "setListingStatusArgs",
      "docs": [
        "Arguments of `set_listing_status`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "status",
            "docs": [
              "Active or Paused; delisting has an instruction of its own."
            ],
            "type": {
              "defined": {
                "name": "listingStatus"
              }
            }
          }
        ]
      }
    },
    {
      "name": "setRelayAuthoritiesArgs",
      "docs": [
        "Arguments of `set_relay_authorities`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "relayAuthorities",
            "docs": [
              "Who may settle and refund any execution, and open for API keys, from now on: 1 to 8 distinct keys."
            ],
            "type": {
              "vec": "pubkey"
            }
          }
        ]
      }
    },
    {
      "name": "settleExecutionArgs",
      "docs": [
        "Arguments of `settle_execution`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "resultHash",
            "docs": [
              "SHA-256 of the result; the creator signed `sha256:` and its lower-case hex."
            ],
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "signature",
            "docs": [
              "The record's signing key's Ed25519 signature over that text."
            ],
            "type": {
              "array": [
                "u8",
                64
              ]
            }
          },
          {
            "name": "executionTimeMs",
            "docs": [
              "Dispatch to result, as the relay measured it."
            ],
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "signingKey",
      "docs": [
        "A creator's result-signing key and its listing."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "docs": [
              "Layout version, 1."
            ],
            "type": "u8"
          },
          {
            "name": "bump",
            "docs": [
              "Bump of this address."
            ],
            "type": "u8"
          },
          {
            "name": "key",
            "docs": [
              "The Ed25519 public key."
            ],
            "type": "pubkey"
          },
          {
            "name": "listing",
            "docs": [
              "The only listing whose results it may sign."
            ],
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "signingKeyRotated",
      "docs": [
        "Another key signs a listing's results from now on; open executions keep theirs."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "signingKey",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "topUpCollateralArgs",
      "docs": [
        "Arguments of `top_up_collateral`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "amount",
            "docs": [
              "Base units."
            ],
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "treasuryWithdrawn",
      "docs": [
        "Fees left the treasury."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "treasury",
            "type": "pubkey"
          },
          {
            "name": "destination",
            "type": "pubkey"
          },
          {
            "name": "amount",
            "docs": [
              "Base units."
            ],
            "type": "u64"
          },
          {
            "name": "remaining",
            "docs": [
              "Base units left in the treasury."
            ],
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "updateConfigArgs",
      "docs": [
        "Arguments of `update_config`: what is absent stays as it is."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "opensPaused",
            "docs": [
              "True stops every new execution; settling and refunding go on."
            ],
            "type": {
              "option": "bool"
            }
          },
          {
            "name": "feeBps",
            "docs": [
              "The marketplace's share, basis points."
            ],
            "type": {
              "option": "u16"
            }
          },
          {
            "name": "minPrice",
            "docs": [
              "Lowest price, base units."
            ],
            "type": {
              "option": "u64"
            }
          },
          {
            "name": "disputeBondLamports",
            "docs": [
              "Bond of a dispute, lamports."
            ],
            "type": {
              "option": "u64"
            }
          },
          {
            "name": "disputeWindowSeconds",
            "docs": [
              "How long after its settle an execution can be disputed."
            ],
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "refundGraceSeconds",
            "docs": [
              "Time from an execution's deadline to the refund that anyone may trigger."
            ],
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "maxTimeoutSeconds",
            "docs": [
              "Longest timeout a listing may offer."
            ],
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "exposureMultiple",
            "docs": [
              "Limit of the prices opened in a window as a multiple of the collateral; 0 = none."
            ],
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "tiers",
            "docs": [
              "1 to 4 tiers, strictly increasing; replaces all."
            ],
            "type": {
              "option": {
                "vec": {
                  "defined": {
                    "name": "collateralTier"
                  }
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "updateGrantArgs",
      "docs": [
        "Arguments of `update_grant`: all limits, those that stay too."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "limits",
            "docs": [
              "Caps and end of the right from now on."
            ],
            "type": {
              "defined": {
                "name": "grantLimits"
              }
            }
          }
        ]
      }
    },
    {
      "name": "updateListingArgs",
      "docs": [
        "Arguments of `update_listing`: all terms, those that stay too."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "terms",
            "docs": [
              "The terms from now on."
            ],
            "type": {
              "defined": {
                "name": "listingTerms"
              }
            }
          }
        ]
      }
    },
    {
      "name": "withdrawGasArgs",
      "docs": [
        "Arguments of `withdraw_gas`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "lamports",
            "docs": [
              "Lamports."
            ],
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "withdrawTreasuryArgs",
      "docs": [
        "Arguments of `withdraw_treasury`."
      ],
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "amount",
            "docs": [
              "Base units."
            ],
            "type": "u64"
          }
        ]
      }
    }
  ],
  "constants": [
    {
      "name": "archiveBuffer",
      "docs": [
        "Roots that an archive's tree remembers, the buffer of SPL Account Compression."
      ],
      "type": "u8",
      "value": "64"
    },
    {
      "name": "archiveCapacity",
      "docs": [
        "Leaves that an archive has room for."
      ],
      "type": "u32",
      "value": "1048576"
    },
    {
      "name": "archiveDepth",
      "docs": [
        "Levels of an archive's tree below its root: room for 2^20 leaves."
      ],
      "type": "u8",
      "value": "20"
    },
    {
      "name": "archiveLeafDomain",
      "docs": [
        "Hashed before a record's address and fields to make its leaf; longer than nothing, so that no two nodes of",
        "the tree, 64 bytes, can pass for a record."
      ],
      "type": "bytes",
      "value": "[97, 103, 101, 110, 116, 45, 109, 97, 114, 107, 101, 116, 112, 108, 97, 99, 101, 58, 97, 114, 99, 104, 105, 118, 101, 58, 118, 49]"
    },
    {
      "name": "archiveSeed",
      "docs": [
        "Seed of an `Archive`, followed by its index, u16 little-endian."
      ],
      "type": "bytes",
      "value": "[97, 114, 99, 104, 105, 118, 101]"
    },
    {
      "name": "archiveSuccessorCount",
      "docs": [
        "Leaves from which on the next archive can be made: nine tenths, so that archiving never waits for a tree."
      ],
      "type": "u32",
      "value": "943719"
    },
    {
      "name": "archiveTreeBytes",
      "docs": [
        "Bytes of a tree's account."
      ],
      "type": "u32",
      "value": "44280"
    },
    {
      "name": "bpsDenominator",
      "docs": [
        "Basis points in a whole."
      ],
      "type": "u16",
      "value": "10000"
    },
    {
      "name": "collateralSeed",
      "docs": [
        "Seed of a `CreatorCollateral`, followed by the listing's address."
      ],
      "type": "bytes",
      "value": "[99, 111, 108, 108, 97, 116, 101, 114, 97, 108]"
    },
    {
      "name": "collateralVaultSeed",
      "docs": [
        "Seed of the token account that holds a listing's collateral, followed by the listing's address."
      ],
      "type": "bytes",
      "value": "[99, 111, 108, 108, 97, 116, 101, 114, 97, 108, 95, 118, 97, 117, 108, 116]"
    },
    {
      "name": "configSeed",
      "docs": [
        "Seed of the one `Config`."
      ],
      "type": "bytes",
      "value": "[99, 111, 110, 102, 105, 103]"
    },
    {
      "name": "creatorSeed",
      "docs": [
        "Seed of a `CreatorProfile`, followed by the creator's wallet."
      ],
      "type": "bytes",
      "value": "[99, 114, 101, 97, 116, 111, 114]"
    },
    {
      "name": "defaultMaxGasLamports",
      "docs": [
        "What a grant allows where its wallet says nothing, lamports: two transactions, and as much again for priority."
      ],
      "type": "u32",
      "value": "20000"
    },
    {
      "name": "disputeBondLamportsMax",
      "docs": [
        "Greatest dispute bond, lamports: 1 SOL."
      ],
      "type": "u64",
      "value": "1000000000"
    },
    {
      "name": "disputeLapseSeconds",
      "docs": [
        "How long the admin may leave a dispute unanswered before anyone can end it."
      ],
      "type": "i64",
      "value": "2592000"
    },
    {
      "name": "disputeSeed",
      "docs": [
        "Seed of a `Dispute`, followed by the record's address."
      ],
      "type": "bytes",
      "value": "[100, 105, 115, 112, 117, 116, 101]"
    },
    {
      "name": "disputeWindowSecondsMax",
      "type": "u32",
      "value": "2592000"
    },
    {
      "name": "disputeWindowSecondsMin",
      "docs": [
        "Least and greatest dispute window, seconds: the promised 72 hours to 30 days."
      ],
      "type": "u32",
      "value": "259200"
    },
    {
      "name": "endedDisputeSeconds",
      "docs": [
        "How long an ended dispute stays, seconds: the longest dispute window, so that its record can have no other."
      ],
      "type": "i64",
      "value": "2592000"
    },
    {
      "name": "endedRecordSeconds",
      "docs": [
        "How long an ended record stays at least, seconds: longer than a nonce's day can be used, so that an id never recurs."
      ],
      "type": "i64",
      "value": "259200"
    },
    {
      "name": "escrowSeed",
      "docs": [
        "Seed of the token account that holds one execution's price, followed by the record's address."
      ],
      "type": "bytes",
      "value": "[101, 115, 99, 114, 111, 119]"
    },
    {
      "name": "executionIdDomain",
      "docs": [
        "Hashed before the caller and the nonce to make an execution id; names the purpose so that no",
        "other hash of the same bytes can pass for one."
      ],
      "type": "bytes",
      "value": "[97, 103, 101, 110, 116, 45, 109, 97, 114, 107, 101, 116, 112, 108, 97, 99, 101, 58, 101, 120, 101, 99, 117, 116, 105, 111, 110, 58, 118, 49]"
    },
    {
      "name": "executionSeed",
      "docs": [
        "Seed of an `ExecutionRecord`, followed by the 16-byte execution id."
      ],
      "type": "bytes",
      "value": "[101, 120, 101, 99, 117, 116, 105, 111, 110]"
    },
    {
      "name": "grantSeed",
      "docs": [
        "Seed of a `KeyGrant`, followed by the wallet and the 16-byte key id."
      ],
      "type": "bytes",
      "value": "[103, 114, 97, 110, 116]"
    },
    {
      "name": "keySeed",
      "docs": [
        "Seed of a `SigningKey`, followed by the Ed25519 public key."
      ],
      "type": "bytes",
      "value": "[107, 101, 121]"
    },
    {
      "name": "listingSeed",
      "docs": [
        "Seed of an `AgentListing`, followed by the creator's wallet and the 16-byte listing id."
      ],
      "type": "bytes",
      "value": "[108, 105, 115, 116, 105, 110, 103]"
    },
    {
      "name": "maxArchivedRecords",
      "docs": [
        "Most records that one `archive_executions` takes; their addresses and those of as many rent sponsors are",
        "what a transaction can carry."
      ],
      "type": "u8",
      "value": "12"
    },
    {
      "name": "maxCollateralTiers",
      "docs": [
        "How many collateral tiers a config can hold."
      ],
      "type": "u8",
      "value": "4"
    },
    {
      "name": "maxFeeBps",
      "docs": [
        "The fee creators are promised not to exceed: 1%."
      ],
      "type": "u16",
      "value": "100"
    },
    {
      "name": "maxGasLamports",
      "docs": [
        "Most that one execution may take as gas, lamports: twenty signatures."
      ],
      "type": "u32",
      "value": "100000"
    },
    {
      "name": "maxGrantSeconds",
      "docs": [
        "Longest life of a key's grant, seconds: one year."
      ],
      "type": "i64",
      "value": "31536000"
    },
    {
      "name": "maxRelayAuthorities",
      "docs": [
        "How many relay authorities a config can hold."
      ],
      "type": "u8",
      "value": "8"
    },
    {
      "name": "maxTags",
      "docs": [
        "Most tags one listing may carry."
      ],
      "type": "u8",
      "value": "5"
    },
    {
      "name": "maxTimeoutSecondsMax",
      "type": "u32",
      "value": "86400"
    },
    {
      "name": "maxTimeoutSecondsMin",
      "docs": [
        "Least and greatest bound on a listing's timeout, seconds."
      ],
      "type": "u32",
      "value": "60"
    },
    {
      "name": "maxUriLength",
      "docs": [
        "Longest metadata or evidence URI, bytes."
      ],
      "type": "u16",
      "value": "200"
    },
    {
      "name": "minPriceCeiling",
      "type": "u64",
      "value": "1000000"
    },
    {
      "name": "minPriceFloor",
      "docs": [
        "Least and greatest `min_price`, base units: 0.01 to 1 USDC."
      ],
      "type": "u64",
      "value": "10000"
    },
    {
      "name": "nonceDaySeconds",
      "docs": [
        "Length of the day that a nonce begins with, seconds."
      ],
      "type": "u64",
      "value": "86400"
    },
    {
      "name": "refundGraceSecondsMax",
      "type": "u32",
      "value": "3600"
    },
    {
      "name": "refundGraceSecondsMin",
      "docs": [
        "Least and greatest time between an execution's deadline and the refund that anyone may trigger."
      ],
      "type": "u32",
      "value": "300"
    },
    {
      "name": "registerDomain",
      "docs": [
        "Precedes the listing's 32 raw bytes in the message that proves possession of a signing key."
      ],
      "type": "bytes",
      "value": "[97, 103, 101, 110, 116, 45, 109, 97, 114, 107, 101, 116, 112, 108, 97, 99, 101, 58, 114, 101, 103, 105, 115, 116, 101, 114, 58, 118, 49, 58]"
    },
    {
      "name": "spenderSeed",
      "docs": [
        "Seed of the address without data that a wallet approves as SPL delegate, followed by the wallet. Its lamports",
        "are the wallet's tank: gas, and rent where nobody lends it, of all its keys."
      ],
      "type": "bytes",
      "value": "[115, 112, 101, 110, 100, 101, 114]"
    },
    {
      "name": "standardTagCount",
      "docs": [
        "Tags of the standard taxonomy, in the order of their bits in `tag_mask`: research, code, legal,",
        "finance, data, social, security, writing, sql, monitoring."
      ],
      "type": "u8",
      "value": "10"
    },
    {
      "name": "treasurySeed",
      "docs": [
        "Seed of the marketplace's own USDC token account, which collects fees."
      ],
      "type": "bytes",
      "value": "[116, 114, 101, 97, 115, 117, 114, 121]"
    },
    {
      "name": "unarchivedRecordSeconds",
      "docs": [
        "How long after its dispute window any ended record can be closed without an archive, seconds: one year."
      ],
      "type": "i64",
      "value": "31536000"
    },
    {
      "name": "usdcDecimals",
      "docs": [
        "Decimals of the settlement token; Circle's USDC has six."
      ],
      "type": "u8",
      "value": "6"
    }
  ]
};
