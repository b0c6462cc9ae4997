/** The program's interface without its docs: what `marketplace.json` says, for code. Generated, like its neighbours. */
import type { ProgramIdl } from '../idlTypes.ts';

export const idl: ProgramIdl = {
  "address": "6wYfSpZq2bXE3TSRRh8HhNT8oHf4kZdy13ti9Nyepsyo",
  "metadata": {
    "name": "marketplace",
    "version": "0.1.0",
    "spec": "0.1.0",
    "description": "Escrow for paid agent executions, released only against the creator's signed result"
  },
  "instructions": [
    {
      "name": "accept_admin",
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
          "name": "pending_admin",
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
      "name": "archive_executions",
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
                "account": "Archive"
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
          "name": "event_authority",
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
      "name": "claim_dispute_award",
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
                "account": "Dispute"
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
                "account": "Dispute"
              }
            ]
          }
        },
        {
          "name": "collateral_vault",
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
                "account": "Dispute"
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
                "account": "Dispute"
              },
              {
                "kind": "account",
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "config.usdc_mint",
                "account": "Config"
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
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "collateral"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": []
    },
    {
      "name": "close_dispute",
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
                "account": "Dispute"
              }
            ]
          }
        },
        {
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "dispute"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "close_execution",
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
                "path": "record.execution_id",
                "account": "ExecutionRecord"
              }
            ]
          }
        },
        {
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "record"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "close_grant",
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
                "account": "KeyGrant"
              },
              {
                "kind": "account",
                "path": "grant.key_id",
                "account": "KeyGrant"
              }
            ]
          }
        },
        {
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "grant"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "create_archive",
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
                "account": "Archive"
              }
            ]
          }
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "CreateArchiveArgs"
            }
          }
        }
      ]
    },
    {
      "name": "create_grant",
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
          "signer": true
        },
        {
          "name": "payer",
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
                "path": "args.key_id"
              }
            ]
          }
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "CreateGrantArgs"
            }
          }
        }
      ]
    },
    {
      "name": "delist_agent",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
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
      "name": "initialize_config",
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
          "signer": true
        },
        {
          "name": "payer",
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
          "name": "usdc_mint"
        },
        {
          "name": "program_data"
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "InitializeConfigArgs"
            }
          }
        }
      ]
    },
    {
      "name": "lapse_dispute",
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
                "path": "record.execution_id",
                "account": "ExecutionRecord"
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
                "account": "ExecutionRecord"
              }
            ]
          }
        },
        {
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "dispute"
          ]
        }
      ],
      "args": []
    },
    {
      "name": "list_agent",
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
          "signer": true
        },
        {
          "name": "payer",
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
                "path": "args.listing_id"
              }
            ]
          }
        },
        {
          "name": "signing_key",
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
                "path": "args.signing_key"
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
          "name": "collateral_vault",
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
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "usdc_mint"
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
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "usdc_mint"
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
          "name": "usdc_mint",
          "relations": [
            "config"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "ListAgentArgs"
            }
          }
        }
      ]
    },
    {
      "name": "open_dispute",
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
          "signer": true,
          "relations": [
            "record"
          ]
        },
        {
          "name": "payer",
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
                "path": "record.execution_id",
                "account": "ExecutionRecord"
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
                "account": "ExecutionRecord"
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
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "OpenDisputeArgs"
            }
          }
        }
      ]
    },
    {
      "name": "open_execution",
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
          "signer": true
        },
        {
          "name": "payer",
          "writable": true,
          "signer": true
        },
        {
          "name": "rent_sponsor",
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
                "path": "args.execution_id"
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
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "usdc_mint"
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
          "name": "usdc_mint",
          "relations": [
            "config"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "OpenExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "open_execution_with_grant",
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
          "name": "relay_authority",
          "signer": true
        },
        {
          "name": "payer",
          "writable": true,
          "signer": true
        },
        {
          "name": "rent_sponsor",
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
                "account": "KeyGrant"
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
                "path": "args.execution_id"
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
                "account": "KeyGrant"
              },
              {
                "kind": "account",
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "usdc_mint"
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
          "name": "usdc_mint",
          "relations": [
            "config"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "OpenExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "propose_admin",
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
              "name": "ProposeAdminArgs"
            }
          }
        }
      ]
    },
    {
      "name": "refund_execution",
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
                "account": "ExecutionRecord"
              },
              {
                "kind": "account",
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "config.usdc_mint",
                "account": "Config"
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
                "account": "ExecutionRecord"
              },
              {
                "kind": "account",
                "path": "record.key_id",
                "account": "ExecutionRecord"
              }
            ]
          }
        },
        {
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "record"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "RefundExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "resolve_dispute",
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
                "path": "record.execution_id",
                "account": "ExecutionRecord"
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
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
          "name": "collateral_vault",
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
                "account": "ExecutionRecord"
              },
              {
                "kind": "account",
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "config.usdc_mint",
                "account": "Config"
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
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "dispute"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "ResolveDisputeArgs"
            }
          }
        }
      ]
    },
    {
      "name": "return_collateral",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
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
          "name": "collateral_vault",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "token_program"
              },
              {
                "kind": "account",
                "path": "config.usdc_mint",
                "account": "Config"
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
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "collateral"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": []
    },
    {
      "name": "revoke_grant",
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
                "account": "KeyGrant"
              },
              {
                "kind": "account",
                "path": "grant.key_id",
                "account": "KeyGrant"
              }
            ]
          }
        }
      ],
      "args": []
    },
    {
      "name": "rotate_signing_key",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
              }
            ]
          }
        },
        {
          "name": "signing_key",
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
                "path": "args.signing_key"
              }
            ]
          }
        },
        {
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "RotateSigningKeyArgs"
            }
          }
        }
      ]
    },
    {
      "name": "set_creator_verified",
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
          "signer": true,
          "relations": [
            "config"
          ]
        },
        {
          "name": "payer",
          "writable": true,
          "signer": true
        },
        {
          "name": "config",
          "address": "GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6"
        },
        {
          "name": "profile",
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
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "SetCreatorVerifiedArgs"
            }
          }
        }
      ]
    },
    {
      "name": "set_listing_status",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
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
              "name": "SetListingStatusArgs"
            }
          }
        }
      ]
    },
    {
      "name": "set_relay_authorities",
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
              "name": "SetRelayAuthoritiesArgs"
            }
          }
        }
      ]
    },
    {
      "name": "settle_execution",
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
          "name": "relay_authority",
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
          "name": "rent_sponsor",
          "writable": true,
          "relations": [
            "record"
          ]
        },
        {
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "SettleExecutionArgs"
            }
          }
        }
      ]
    },
    {
      "name": "top_up_collateral",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
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
          "name": "collateral_vault",
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
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "TopUpCollateralArgs"
            }
          }
        }
      ]
    },
    {
      "name": "update_config",
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
              "name": "UpdateConfigArgs"
            }
          }
        }
      ]
    },
    {
      "name": "update_grant",
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
                "account": "KeyGrant"
              },
              {
                "kind": "account",
                "path": "grant.key_id",
                "account": "KeyGrant"
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
              "name": "UpdateGrantArgs"
            }
          }
        }
      ]
    },
    {
      "name": "update_listing",
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
                "account": "AgentListing"
              },
              {
                "kind": "account",
                "path": "listing.listing_id",
                "account": "AgentListing"
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
              "name": "UpdateListingArgs"
            }
          }
        }
      ]
    },
    {
      "name": "withdraw_gas",
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
          "name": "system_program",
          "address": "11111111111111111111111111111111"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "WithdrawGasArgs"
            }
          }
        }
      ]
    },
    {
      "name": "withdraw_treasury",
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
          "name": "token_program",
          "address": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        }
      ],
      "args": [
        {
          "name": "args",
          "type": {
            "defined": {
              "name": "WithdrawTreasuryArgs"
            }
          }
        }
      ]
    }
  ],
  "accounts": [
    {
      "name": "AgentListing",
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
      "name": "Archive",
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
      "name": "Config",
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
      "name": "CreatorCollateral",
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
      "name": "CreatorProfile",
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
      "name": "Dispute",
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
      "name": "ExecutionRecord",
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
      "name": "KeyGrant",
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
      "name": "SigningKey",
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
      "name": "AdminChanged",
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
      "name": "AdminProposed",
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
      "name": "AgentDelisted",
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
      "name": "AgentListed",
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
      "name": "ArchiveCreated",
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
      "name": "CollateralReturned",
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
      "name": "CollateralToppedUp",
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
      "name": "ConfigInitialized",
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
      "name": "ConfigUpdated",
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
      "name": "CreatorVerificationChanged",
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
      "name": "DisputeAwardClaimed",
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
      "name": "DisputeClosed",
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
      "name": "DisputeLapsed",
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
      "name": "DisputeOpened",
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
      "name": "DisputeResolved",
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
      "name": "ExecutionClosed",
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
      "name": "ExecutionOpened",
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
      "name": "ExecutionRefunded",
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
      "name": "ExecutionSettled",
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
      "name": "ExecutionsArchived",
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
      "name": "GasWithdrawn",
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
      "name": "GrantClosed",
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
      "name": "GrantCreated",
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
      "name": "GrantRevoked",
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
      "name": "GrantUpdated",
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
      "name": "ListingStatusChanged",
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
      "name": "ListingUpdated",
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
      "name": "RelayAuthoritiesChanged",
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
      "name": "SigningKeyRotated",
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
      "name": "TreasuryWithdrawn",
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
      "name": "NotUpgradeAuthority",
      "msg": "Only the program's upgrade authority may create the marketplace"
    },
    {
      "code": 6001,
      "name": "WrongProgramData",
      "msg": "This account is not the program's own ProgramData account"
    },
    {
      "code": 6002,
      "name": "InvalidMint",
      "msg": "The settlement mint must belong to the classic Token program and have six decimals"
    },
    {
      "code": 6003,
      "name": "InvalidAuthority",
      "msg": "The admin must not be the zero key"
    },
    {
      "code": 6004,
      "name": "InvalidRelayAuthorities",
      "msg": "There must be 1 to 8 relay authorities, none twice and none the zero key"
    },
    {
      "code": 6005,
      "name": "FeeOutOfBounds",
      "msg": "fee_bps must be between 0 and 100"
    },
    {
      "code": 6006,
      "name": "MinPriceOutOfBounds",
      "msg": "min_price must be between 10000 and 1000000 base units"
    },
    {
      "code": 6007,
      "name": "DisputeWindowOutOfBounds",
      "msg": "dispute_window_seconds must be between 259200 and 2592000"
    },
    {
      "code": 6008,
      "name": "RefundGraceOutOfBounds",
      "msg": "refund_grace_seconds must be between 300 and 3600"
    },
    {
      "code": 6009,
      "name": "MaxTimeoutOutOfBounds",
      "msg": "max_timeout_seconds must be between 60 and 86400"
    },
    {
      "code": 6010,
      "name": "BondOutOfBounds",
      "msg": "dispute_bond_lamports must be at most 1 SOL"
    },
    {
      "code": 6011,
      "name": "InvalidTiers",
      "msg": "There must be 1 to 4 collateral tiers, strictly increasing, none below min_price"
    },
    {
      "code": 6012,
      "name": "NotAdmin",
      "msg": "Only the admin may do this"
    },
    {
      "code": 6013,
      "name": "NotPendingAdmin",
      "msg": "Only the proposed admin may accept"
    },
    {
      "code": 6014,
      "name": "NotRelayAuthority",
      "msg": "Only a relay authority may do this"
    },
    {
      "code": 6015,
      "name": "WrongMint",
      "msg": "This is not the marketplace's settlement mint"
    },
    {
      "code": 6016,
      "name": "OpensPaused",
      "msg": "New executions are paused"
    },
    {
      "code": 6017,
      "name": "NotCreator",
      "msg": "Only the listing's creator may do this"
    },
    {
      "code": 6018,
      "name": "PriceBelowMinimum",
      "msg": "The price is below the marketplace's minimum"
    },
    {
      "code": 6019,
      "name": "PriceAboveTiers",
      "msg": "The price is above the last collateral tier"
    },
    {
      "code": 6020,
      "name": "InvalidTimeouts",
      "msg": "Timeouts must satisfy 1 <= min_timeout_seconds <= timeout_seconds <= the marketplace's maximum"
    },
    {
      "code": 6021,
      "name": "InvalidTags",
      "msg": "tag_mask must select 1 to 5 of the 10 standard tags"
    },
    {
      "code": 6022,
      "name": "UriTooLong",
      "msg": "metadata_uri must be at most 200 bytes"
    },
    {
      "code": 6023,
      "name": "InvalidPayout",
      "msg": "The payout account must be a USDC account owned by the creator's wallet"
    },
    {
      "code": 6024,
      "name": "WeakSigningKey",
      "msg": "The signing key is not a canonical Ed25519 key of large order"
    },
    {
      "code": 6025,
      "name": "SigningKeyTaken",
      "msg": "This signing key already belongs to a listing"
    },
    {
      "code": 6026,
      "name": "InvalidListingTransition",
      "msg": "A listing moves only between active and paused, and from either to delisted"
    },
    {
      "code": 6027,
      "name": "ListingDelisted",
      "msg": "The listing is delisted"
    },
    {
      "code": 6028,
      "name": "ListingNotActive",
      "msg": "The listing is not active"
    },
    {
      "code": 6029,
      "name": "InvalidDepositSource",
      "msg": "The deposit account must be a USDC account owned by the creator's wallet"
    },
    {
      "code": 6030,
      "name": "CollateralBelowTier",
      "msg": "The listing's collateral is below what its price requires"
    },
    {
      "code": 6031,
      "name": "ExposureLimitReached",
      "msg": "The listing's exposure limit for this window is reached"
    },
    {
      "code": 6032,
      "name": "CollateralInsolvent",
      "msg": "The collateral vault does not cover its liabilities"
    },
    {
      "code": 6033,
      "name": "CollateralNotReturnable",
      "msg": "The collateral goes back once, after delisting, from returnable_at on"
    },
    {
      "code": 6034,
      "name": "DisputesOpen",
      "msg": "The collateral waits for open disputes"
    },
    {
      "code": 6035,
      "name": "InvalidKeyId",
      "msg": "A key id must not be all zero"
    },
    {
      "code": 6036,
      "name": "GrantLimitZero",
      "msg": "Every limit of a grant but that of gas must be above zero"
    },
    {
      "code": 6037,
      "name": "GrantExpiryOutOfBounds",
      "msg": "A grant must end in the future, at most a year from now"
    },
    {
      "code": 6038,
      "name": "GrantGasOutOfBounds",
      "msg": "max_gas_lamports must be at most 100000"
    },
    {
      "code": 6039,
      "name": "NotGrantWallet",
      "msg": "Only the grant's wallet may do this"
    },
    {
      "code": 6040,
      "name": "NotGrantAuthority",
      "msg": "Only the grant's wallet or a relay authority may revoke it"
    },
    {
      "code": 6041,
      "name": "GrantRevoked",
      "msg": "The grant is revoked"
    },
    {
      "code": 6042,
      "name": "GrantExpired",
      "msg": "The grant has expired"
    },
    {
      "code": 6043,
      "name": "GrantPerExecutionExceeded",
      "msg": "The price is above the grant's limit for one execution"
    },
    {
      "code": 6044,
      "name": "GrantPeriodExceeded",
      "msg": "The price does not fit what is left of the grant's period"
    },
    {
      "code": 6045,
      "name": "GrantTotalExceeded",
      "msg": "The price does not fit what is left of the grant"
    },
    {
      "code": 6046,
      "name": "GrantGasExceeded",
      "msg": "The gas is above what the grant allows for one execution"
    },
    {
      "code": 6047,
      "name": "GrantOverspent",
      "msg": "The grant's spend is above its limits"
    },
    {
      "code": 6048,
      "name": "GrantInUse",
      "msg": "The grant paid for an execution in this very second; close it in the next"
    },
    {
      "code": 6049,
      "name": "WrongGrant",
      "msg": "This is not the grant that paid for the execution"
    },
    {
      "code": 6050,
      "name": "InsufficientAllowance",
      "msg": "The wallet has not delegated enough USDC to its spender address"
    },
    {
      "code": 6051,
      "name": "TankTooLow",
      "msg": "The wallet's tank does not cover the gas, and the rent if it lends it"
    },
    {
      "code": 6052,
      "name": "TankBelowRent",
      "msg": "A tank must be left empty or with enough lamports to be rent-exempt"
    },
    {
      "code": 6053,
      "name": "WrongExecutionId",
      "msg": "The execution id does not follow from the caller and the nonce"
    },
    {
      "code": 6054,
      "name": "WrongNonceDay",
      "msg": "The nonce must begin with the UTC day of today or yesterday, as a little-endian u32"
    },
    {
      "code": 6055,
      "name": "PriceAboveMax",
      "msg": "The price is above max_price"
    },
    {
      "code": 6056,
      "name": "ListingVersionMismatch",
      "msg": "The listing has changed since listing_version"
    },
    {
      "code": 6057,
      "name": "TimeoutOutOfRange",
      "msg": "The timeout is outside what the listing offers"
    },
    {
      "code": 6058,
      "name": "OpenTooLate",
      "msg": "This open is too late: open_before has passed"
    },
    {
      "code": 6059,
      "name": "GasOutOfBounds",
      "msg": "gas_lamports must be at most 100000"
    },
    {
      "code": 6060,
      "name": "InvalidRentSponsor",
      "msg": "The rent sponsor must be able to receive lamports: a writable account that is no program"
    },
    {
      "code": 6061,
      "name": "InvalidSource",
      "msg": "The paying account must be a USDC account owned by the caller"
    },
    {
      "code": 6062,
      "name": "InsufficientBalance",
      "msg": "The paying account holds less than the price"
    },
    {
      "code": 6063,
      "name": "ExecutionNotOpen",
      "msg": "The execution is not open"
    },
    {
      "code": 6064,
      "name": "SettleWindowClosed",
      "msg": "From refund_at on an execution can only be refunded"
    },
    {
      "code": 6065,
      "name": "SignatureInvalid",
      "msg": "The Ed25519 signature is not this key's over this message"
    },
    {
      "code": 6066,
      "name": "WrongListing",
      "msg": "This listing is not the one that the execution was opened for"
    },
    {
      "code": 6067,
      "name": "PayoutUnusable",
      "msg": "The payout account must be a USDC account that the listing's creator owns, and not frozen"
    },
    {
      "code": 6068,
      "name": "RefundTooEarly",
      "msg": "Before refund_at only a relay authority may refund"
    },
    {
      "code": 6069,
      "name": "WrongRefundDestination",
      "msg": "A refund goes to the caller's associated token account, or to any USDC account of a caller who signs"
    },
    {
      "code": 6070,
      "name": "RefundDestinationUnusable",
      "msg": "The refund account cannot receive: it is missing, frozen or no longer the caller's"
    },
    {
      "code": 6071,
      "name": "WrongRentSponsor",
      "msg": "Rent goes back to the account that lent it"
    },
    {
      "code": 6072,
      "name": "ExecutionNotEnded",
      "msg": "The execution has not ended"
    },
    {
      "code": 6073,
      "name": "CloseTooEarly",
      "msg": "It is too early: a refunded execution stays three days, a paid one a year after its window, a dispute 30 days"
    },
    {
      "code": 6074,
      "name": "RecordUnsound",
      "msg": "The record and its escrow do not agree"
    },
    {
      "code": 6075,
      "name": "NotCaller",
      "msg": "Only the execution's caller may do this"
    },
    {
      "code": 6076,
      "name": "ExecutionNotCompleted",
      "msg": "Only a completed execution can be disputed"
    },
    {
      "code": 6077,
      "name": "DisputeWindowClosed",
      "msg": "The execution's dispute window has closed"
    },
    {
      "code": 6078,
      "name": "DisputeExists",
      "msg": "The execution has been disputed before"
    },
    {
      "code": 6079,
      "name": "DisputeNotOpen",
      "msg": "The dispute is not open"
    },
    {
      "code": 6080,
      "name": "SlashAboveCollateral",
      "msg": "The slash is above what is left of the collateral"
    },
    {
      "code": 6081,
      "name": "OtherDisputesStarved",
      "msg": "The treasury's part would leave less than other open disputes ask for"
    },
    {
      "code": 6082,
      "name": "NothingOwed",
      "msg": "The dispute owes nothing"
    },
    {
      "code": 6083,
      "name": "LapseTooEarly",
      "msg": "A dispute lapses 30 days after it was opened"
    },
    {
      "code": 6084,
      "name": "DisputeNotEnded",
      "msg": "The dispute is open, or still owes an award"
    },
    {
      "code": 6085,
      "name": "DisputeUnsound",
      "msg": "The dispute's amounts do not agree with its outcome"
    },
    {
      "code": 6086,
      "name": "InvalidTree",
      "msg": "A tree must be a new account of this program: of the exact size, all zero and rent-exempt"
    },
    {
      "code": 6087,
      "name": "ArchiveTooEarly",
      "msg": "The archive before this one is not yet nine tenths full"
    },
    {
      "code": 6088,
      "name": "ArchiveFull",
      "msg": "The archive has no room left"
    },
    {
      "code": 6089,
      "name": "TooManyRecords",
      "msg": "At most 12 records can be archived at a time"
    },
    {
      "code": 6090,
      "name": "NothingToArchive",
      "msg": "None of these records can be archived now"
    },
    {
      "code": 6091,
      "name": "ArchiveUnsound",
      "msg": "The archive's count is not that of its tree"
    },
    {
      "code": 6092,
      "name": "AccountExists",
      "msg": "The account to be made exists already"
    },
    {
      "code": 6093,
      "name": "WrongAddress",
      "msg": "This account is not at the address that its seeds make"
    },
    {
      "code": 6094,
      "name": "InvalidAmount",
      "msg": "The amount must be above zero and no more than there is"
    },
    {
      "code": 6095,
      "name": "ArithmeticOverflow",
      "msg": "An amount is out of range"
    },
    {
      "code": 6096,
      "name": "DestinationUnusable",
      "msg": "The receiving account is missing, frozen or no USDC account"
    },
    {
      "code": 6097,
      "name": "WrongDestination",
      "msg": "This is not the account that the money belongs to"
    }
  ],
  "types": [
    {
      "name": "AdminChanged",
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
      "name": "AdminProposed",
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
            "name": "pending_admin",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "AgentDelisted",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "returnable_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "AgentListed",
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
            "name": "listing_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "signing_key",
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
            "name": "timeout_seconds",
            "type": "u32"
          },
          {
            "name": "min_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "tag_mask",
            "type": "u16"
          },
          {
            "name": "listing_version",
            "type": "u32"
          },
          {
            "name": "deposited",
            "type": "u64"
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "metadata_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "metadata_uri",
            "type": "string"
          },
          {
            "name": "listed_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "AgentListing",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "status",
            "type": {
              "defined": {
                "name": "ListingStatus"
              }
            }
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "creator",
            "type": "pubkey"
          },
          {
            "name": "listing_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "payout",
            "type": "pubkey"
          },
          {
            "name": "signing_key",
            "type": "pubkey"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "timeout_seconds",
            "type": "u32"
          },
          {
            "name": "min_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "listing_version",
            "type": "u32"
          },
          {
            "name": "tag_mask",
            "type": "u16"
          },
          {
            "name": "metadata_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "listed_at",
            "type": "i64"
          },
          {
            "name": "metadata_uri",
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "Archive",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "index",
            "type": "u16"
          },
          {
            "name": "tree",
            "type": "pubkey"
          },
          {
            "name": "count",
            "type": "u32"
          },
          {
            "name": "created_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "ArchiveCreated",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "archive",
            "type": "pubkey"
          },
          {
            "name": "index",
            "type": "u16"
          },
          {
            "name": "tree",
            "type": "pubkey"
          },
          {
            "name": "created_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "ArchivedExecution",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "execution",
            "type": {
              "defined": {
                "name": "ExecutionRecord"
              }
            }
          }
        ]
      }
    },
    {
      "name": "CollateralReturned",
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
            "type": "u64"
          },
          {
            "name": "owed",
            "type": "u64"
          },
          {
            "name": "vault_closed",
            "type": "bool"
          }
        ]
      }
    },
    {
      "name": "CollateralTier",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "max_price",
            "type": "u64"
          },
          {
            "name": "deposit",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "CollateralToppedUp",
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
      "name": "Config",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "treasury_bump",
            "type": "u8"
          },
          {
            "name": "opens_paused",
            "type": "bool"
          },
          {
            "name": "fee_bps",
            "type": "u16"
          },
          {
            "name": "tier_count",
            "type": "u8"
          },
          {
            "name": "relay_authority_count",
            "type": "u8"
          },
          {
            "name": "admin",
            "type": "pubkey"
          },
          {
            "name": "pending_admin",
            "type": "pubkey"
          },
          {
            "name": "usdc_mint",
            "type": "pubkey"
          },
          {
            "name": "min_price",
            "type": "u64"
          },
          {
            "name": "dispute_bond_lamports",
            "type": "u64"
          },
          {
            "name": "dispute_window_seconds",
            "type": "u32"
          },
          {
            "name": "refund_grace_seconds",
            "type": "u32"
          },
          {
            "name": "max_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "longest_span_seconds",
            "type": "u32"
          },
          {
            "name": "exposure_multiple",
            "type": "u32"
          },
          {
            "name": "tiers",
            "type": {
              "array": [
                {
                  "defined": {
                    "name": "CollateralTier"
                  }
                },
                4
              ]
            }
          },
          {
            "name": "relay_authorities",
            "type": {
              "array": [
                "pubkey",
                8
              ]
            }
          },
          {
            "name": "reserved",
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
      "name": "ConfigInitialized",
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
            "name": "relay_authorities",
            "type": {
              "vec": "pubkey"
            }
          },
          {
            "name": "usdc_mint",
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
                "name": "ConfigSettings"
              }
            }
          }
        ]
      }
    },
    {
      "name": "ConfigSettings",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "opens_paused",
            "type": "bool"
          },
          {
            "name": "fee_bps",
            "type": "u16"
          },
          {
            "name": "min_price",
            "type": "u64"
          },
          {
            "name": "dispute_bond_lamports",
            "type": "u64"
          },
          {
            "name": "dispute_window_seconds",
            "type": "u32"
          },
          {
            "name": "refund_grace_seconds",
            "type": "u32"
          },
          {
            "name": "max_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "longest_span_seconds",
            "type": "u32"
          },
          {
            "name": "exposure_multiple",
            "type": "u32"
          },
          {
            "name": "tiers",
            "type": {
              "vec": {
                "defined": {
                  "name": "CollateralTier"
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "ConfigUpdated",
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
                "name": "ConfigSettings"
              }
            }
          }
        ]
      }
    },
    {
      "name": "CreateArchiveArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "index",
            "type": "u16"
          }
        ]
      }
    },
    {
      "name": "CreateGrantArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "key_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "limits",
            "type": {
              "defined": {
                "name": "GrantLimits"
              }
            }
          }
        ]
      }
    },
    {
      "name": "CreatorCollateral",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "returned",
            "type": "bool"
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "vault_bump",
            "type": "u8"
          },
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "deposited",
            "type": "u64"
          },
          {
            "name": "slashed",
            "type": "u64"
          },
          {
            "name": "owed",
            "type": "u64"
          },
          {
            "name": "disputed_amount",
            "type": "u64"
          },
          {
            "name": "exposure_opened",
            "type": "u64"
          },
          {
            "name": "exposure_window_start",
            "type": "i64"
          },
          {
            "name": "returnable_at",
            "type": "i64"
          },
          {
            "name": "open_disputes",
            "type": "u32"
          },
          {
            "name": "reserved",
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
      "name": "CreatorProfile",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "verified",
            "type": "bool"
          },
          {
            "name": "creator",
            "type": "pubkey"
          },
          {
            "name": "verified_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "CreatorVerificationChanged",
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
            "name": "verified_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "Dispute",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "outcome",
            "type": {
              "defined": {
                "name": "DisputeOutcome"
              }
            }
          },
          {
            "name": "bump",
            "type": "u8"
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
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "evidence_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "reason_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "opened_at",
            "type": "i64"
          },
          {
            "name": "bond",
            "type": "u64"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "amount_to_caller",
            "type": "u64"
          },
          {
            "name": "amount_to_treasury",
            "type": "u64"
          },
          {
            "name": "owed",
            "type": "u64"
          },
          {
            "name": "resolved_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "DisputeAwardClaimed",
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
            "type": "u64"
          },
          {
            "name": "vault_closed",
            "type": "bool"
          }
        ]
      }
    },
    {
      "name": "DisputeClosed",
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
      "name": "DisputeLapsed",
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
            "name": "execution_id",
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
            "type": "u64"
          },
          {
            "name": "bond_to",
            "type": "pubkey"
          },
          {
            "name": "resolved_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "DisputeOpened",
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
            "name": "execution_id",
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
            "name": "evidence_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "evidence_uri",
            "type": "string"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "bond",
            "type": "u64"
          },
          {
            "name": "opened_at",
            "type": "i64"
          }
        ]
      }
    },
    {
      "name": "DisputeOutcome",
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "Open"
          },
          {
            "name": "Rejected"
          },
          {
            "name": "Upheld"
          },
          {
            "name": "Lapsed"
          }
        ]
      }
    },
    {
      "name": "DisputeResolved",
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
            "name": "execution_id",
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
            "name": "amount_to_caller",
            "type": "u64"
          },
          {
            "name": "amount_to_treasury",
            "type": "u64"
          },
          {
            "name": "owed",
            "type": "u64"
          },
          {
            "name": "bond",
            "type": "u64"
          },
          {
            "name": "bond_to",
            "type": "pubkey"
          },
          {
            "name": "reason_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "resolved_at",
            "type": "i64"
          },
          {
            "name": "deposited",
            "type": "u64"
          },
          {
            "name": "slashed",
            "type": "u64"
          },
          {
            "name": "listing_status",
            "type": "u8"
          }
        ]
      }
    },
    {
      "name": "ExecutionClosed",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "execution_id",
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
      "name": "ExecutionOpened",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "execution_id",
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
            "name": "signing_key",
            "type": "pubkey"
          },
          {
            "name": "key_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "fee_bps",
            "type": "u16"
          },
          {
            "name": "listing_version",
            "type": "u32"
          },
          {
            "name": "request_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "opened_at",
            "type": "i64"
          },
          {
            "name": "deadline",
            "type": "i64"
          },
          {
            "name": "refund_at",
            "type": "i64"
          },
          {
            "name": "dispute_window_seconds",
            "type": "u32"
          },
          {
            "name": "gas_lamports",
            "type": "u32"
          },
          {
            "name": "grant_execution_count",
            "type": "u64"
          },
          {
            "name": "grant_total_spent",
            "type": "u64"
          },
          {
            "name": "grant_period_start",
            "type": "i64"
          },
          {
            "name": "grant_period_spent",
            "type": "u64"
          },
          {
            "name": "exposure_window_start",
            "type": "i64"
          },
          {
            "name": "exposure_opened",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "ExecutionRecord",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "status",
            "type": {
              "defined": {
                "name": "ExecutionStatus"
              }
            }
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "escrow_bump",
            "type": "u8"
          },
          {
            "name": "execution_id",
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
            "name": "signing_key",
            "type": "pubkey"
          },
          {
            "name": "key_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "request_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "result_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "opened_at",
            "type": "i64"
          },
          {
            "name": "deadline",
            "type": "i64"
          },
          {
            "name": "refund_at",
            "type": "i64"
          },
          {
            "name": "settled_at",
            "type": "i64"
          },
          {
            "name": "dispute_window_seconds",
            "type": "u32"
          },
          {
            "name": "listing_version",
            "type": "u32"
          },
          {
            "name": "execution_time_ms",
            "type": "u32"
          },
          {
            "name": "gas_lamports",
            "type": "u32"
          },
          {
            "name": "fee_bps",
            "type": "u16"
          }
        ]
      }
    },
    {
      "name": "ExecutionRefunded",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "execution_id",
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
            "type": "u64"
          },
          {
            "name": "reason",
            "type": "u8"
          },
          {
            "name": "refunded_at",
            "type": "i64"
          },
          {
            "name": "grant_restored",
            "type": "bool"
          },
          {
            "name": "grant_total_spent",
            "type": "u64"
          },
          {
            "name": "grant_period_spent",
            "type": "u64"
          },
          {
            "name": "gas_to",
            "type": "pubkey"
          },
          {
            "name": "gas_lamports",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "ExecutionSettled",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "record",
            "type": "pubkey"
          },
          {
            "name": "execution_id",
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
            "name": "result_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "creator_amount",
            "type": "u64"
          },
          {
            "name": "platform_amount",
            "type": "u64"
          },
          {
            "name": "fee_bps",
            "type": "u16"
          },
          {
            "name": "fee_waived",
            "type": "bool"
          },
          {
            "name": "execution_time_ms",
            "type": "u32"
          },
          {
            "name": "settled_at",
            "type": "i64"
          },
          {
            "name": "payout",
            "type": "pubkey"
          },
          {
            "name": "gas_to",
            "type": "pubkey"
          },
          {
            "name": "gas_lamports",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "ExecutionStatus",
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "Open"
          },
          {
            "name": "Completed"
          },
          {
            "name": "Refunded"
          },
          {
            "name": "Disputed"
          },
          {
            "name": "DisputeUpheld"
          }
        ]
      }
    },
    {
      "name": "ExecutionsArchived",
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
            "name": "first_index",
            "type": "u32"
          },
          {
            "name": "executions",
            "type": {
              "vec": {
                "defined": {
                  "name": "ArchivedExecution"
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "GasWithdrawn",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "spender",
            "type": "pubkey"
          },
          {
            "name": "lamports",
            "type": "u64"
          },
          {
            "name": "remaining",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "GrantClosed",
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
            "name": "key_id",
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
      "name": "GrantCreated",
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
            "name": "key_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "per_execution_max",
            "type": "u64"
          },
          {
            "name": "period_max",
            "type": "u64"
          },
          {
            "name": "total_max",
            "type": "u64"
          },
          {
            "name": "period_seconds",
            "type": "u32"
          },
          {
            "name": "max_gas_lamports",
            "type": "u32"
          },
          {
            "name": "expires_at",
            "type": "i64"
          },
          {
            "name": "created_at",
            "type": "i64"
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "GrantLimits",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "per_execution_max",
            "type": "u64"
          },
          {
            "name": "period_max",
            "type": "u64"
          },
          {
            "name": "total_max",
            "type": "u64"
          },
          {
            "name": "period_seconds",
            "type": "u32"
          },
          {
            "name": "expires_at",
            "type": "i64"
          },
          {
            "name": "max_gas_lamports",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "GrantRevoked",
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
            "name": "key_id",
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
      "name": "GrantUpdated",
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
            "name": "key_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "per_execution_max",
            "type": "u64"
          },
          {
            "name": "period_max",
            "type": "u64"
          },
          {
            "name": "total_max",
            "type": "u64"
          },
          {
            "name": "period_seconds",
            "type": "u32"
          },
          {
            "name": "max_gas_lamports",
            "type": "u32"
          },
          {
            "name": "expires_at",
            "type": "i64"
          },
          {
            "name": "period_start",
            "type": "i64"
          },
          {
            "name": "period_spent",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "InitializeConfigArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "admin",
            "type": "pubkey"
          },
          {
            "name": "relay_authorities",
            "type": {
              "vec": "pubkey"
            }
          },
          {
            "name": "fee_bps",
            "type": "u16"
          },
          {
            "name": "min_price",
            "type": "u64"
          },
          {
            "name": "dispute_bond_lamports",
            "type": "u64"
          },
          {
            "name": "dispute_window_seconds",
            "type": "u32"
          },
          {
            "name": "refund_grace_seconds",
            "type": "u32"
          },
          {
            "name": "max_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "exposure_multiple",
            "type": "u32"
          },
          {
            "name": "tiers",
            "type": {
              "vec": {
                "defined": {
                  "name": "CollateralTier"
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "KeyGrant",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "revoked",
            "type": "bool"
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "spender_bump",
            "type": "u8"
          },
          {
            "name": "source_bump",
            "type": "u8"
          },
          {
            "name": "wallet",
            "type": "pubkey"
          },
          {
            "name": "key_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "rent_sponsor",
            "type": "pubkey"
          },
          {
            "name": "per_execution_max",
            "type": "u64"
          },
          {
            "name": "period_max",
            "type": "u64"
          },
          {
            "name": "total_max",
            "type": "u64"
          },
          {
            "name": "period_seconds",
            "type": "u32"
          },
          {
            "name": "expires_at",
            "type": "i64"
          },
          {
            "name": "created_at",
            "type": "i64"
          },
          {
            "name": "period_start",
            "type": "i64"
          },
          {
            "name": "period_spent",
            "type": "u64"
          },
          {
            "name": "total_spent",
            "type": "u64"
          },
          {
            "name": "execution_count",
            "type": "u64"
          },
          {
            "name": "last_opened_at",
            "type": "i64"
          },
          {
            "name": "max_gas_lamports",
            "type": "u32"
          },
          {
            "name": "reserved",
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
      "name": "ListAgentArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "signing_key",
            "type": "pubkey"
          },
          {
            "name": "possession",
            "type": {
              "array": [
                "u8",
                64
              ]
            }
          },
          {
            "name": "terms",
            "type": {
              "defined": {
                "name": "ListingTerms"
              }
            }
          }
        ]
      }
    },
    {
      "name": "ListingStatus",
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "Active"
          },
          {
            "name": "Paused"
          },
          {
            "name": "Delisted"
          }
        ]
      }
    },
    {
      "name": "ListingStatusChanged",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "status",
            "type": "u8"
          }
        ]
      }
    },
    {
      "name": "ListingTerms",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "price",
            "type": "u64"
          },
          {
            "name": "timeout_seconds",
            "type": "u32"
          },
          {
            "name": "min_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "tag_mask",
            "type": "u16"
          },
          {
            "name": "metadata_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "metadata_uri",
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "ListingUpdated",
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
            "name": "timeout_seconds",
            "type": "u32"
          },
          {
            "name": "min_timeout_seconds",
            "type": "u32"
          },
          {
            "name": "tag_mask",
            "type": "u16"
          },
          {
            "name": "listing_version",
            "type": "u32"
          },
          {
            "name": "metadata_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "metadata_uri",
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "OpenDisputeArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "evidence_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "evidence_uri",
            "type": "string"
          }
        ]
      }
    },
    {
      "name": "OpenExecutionArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "nonce",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "execution_id",
            "type": {
              "array": [
                "u8",
                16
              ]
            }
          },
          {
            "name": "max_price",
            "type": "u64"
          },
          {
            "name": "listing_version",
            "type": "u32"
          },
          {
            "name": "timeout_seconds",
            "type": "u32"
          },
          {
            "name": "request_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "open_before",
            "type": "i64"
          },
          {
            "name": "gas_lamports",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "ProposeAdminArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "pending_admin",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "RefundExecutionArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "reason",
            "type": {
              "defined": {
                "name": "RefundReason"
              }
            }
          }
        ]
      }
    },
    {
      "name": "RefundReason",
      "repr": {
        "kind": "rust"
      },
      "type": {
        "kind": "enum",
        "variants": [
          {
            "name": "CreatorFailed"
          },
          {
            "name": "CreatorTimeout"
          },
          {
            "name": "InvalidAnswer"
          },
          {
            "name": "PayoutUnusable"
          },
          {
            "name": "Unserved"
          },
          {
            "name": "Expired"
          }
        ]
      }
    },
    {
      "name": "RelayAuthoritiesChanged",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "config",
            "type": "pubkey"
          },
          {
            "name": "relay_authorities",
            "type": {
              "vec": "pubkey"
            }
          }
        ]
      }
    },
    {
      "name": "ResolveDisputeArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "upheld",
            "type": "bool"
          },
          {
            "name": "amount",
            "type": "u64"
          },
          {
            "name": "reason_hash",
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
      "name": "RotateSigningKeyArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "signing_key",
            "type": "pubkey"
          },
          {
            "name": "possession",
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
      "name": "SetCreatorVerifiedArgs",
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
          }
        ]
      }
    },
    {
      "name": "SetListingStatusArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "status",
            "type": {
              "defined": {
                "name": "ListingStatus"
              }
            }
          }
        ]
      }
    },
    {
      "name": "SetRelayAuthoritiesArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "relay_authorities",
            "type": {
              "vec": "pubkey"
            }
          }
        ]
      }
    },
    {
      "name": "SettleExecutionArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "result_hash",
            "type": {
              "array": [
                "u8",
                32
              ]
            }
          },
          {
            "name": "signature",
            "type": {
              "array": [
                "u8",
                64
              ]
            }
          },
          {
            "name": "execution_time_ms",
            "type": "u32"
          }
        ]
      }
    },
    {
      "name": "SigningKey",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "version",
            "type": "u8"
          },
          {
            "name": "bump",
            "type": "u8"
          },
          {
            "name": "key",
            "type": "pubkey"
          },
          {
            "name": "listing",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "SigningKeyRotated",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "listing",
            "type": "pubkey"
          },
          {
            "name": "signing_key",
            "type": "pubkey"
          }
        ]
      }
    },
    {
      "name": "TopUpCollateralArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "amount",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "TreasuryWithdrawn",
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
            "type": "u64"
          },
          {
            "name": "remaining",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "UpdateConfigArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "opens_paused",
            "type": {
              "option": "bool"
            }
          },
          {
            "name": "fee_bps",
            "type": {
              "option": "u16"
            }
          },
          {
            "name": "min_price",
            "type": {
              "option": "u64"
            }
          },
          {
            "name": "dispute_bond_lamports",
            "type": {
              "option": "u64"
            }
          },
          {
            "name": "dispute_window_seconds",
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "refund_grace_seconds",
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "max_timeout_seconds",
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "exposure_multiple",
            "type": {
              "option": "u32"
            }
          },
          {
            "name": "tiers",
            "type": {
              "option": {
                "vec": {
                  "defined": {
                    "name": "CollateralTier"
                  }
                }
              }
            }
          }
        ]
      }
    },
    {
      "name": "UpdateGrantArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "limits",
            "type": {
              "defined": {
                "name": "GrantLimits"
              }
            }
          }
        ]
      }
    },
    {
      "name": "UpdateListingArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "terms",
            "type": {
              "defined": {
                "name": "ListingTerms"
              }
            }
          }
        ]
      }
    },
    {
      "name": "WithdrawGasArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "lamports",
            "type": "u64"
          }
        ]
      }
    },
    {
      "name": "WithdrawTreasuryArgs",
      "type": {
        "kind": "struct",
        "fields": [
          {
            "name": "amount",
            "type": "u64"
          }
        ]
      }
    }
  ],
  "constants": [
    {
      "name": "ARCHIVE_BUFFER",
      "type": "u8",
      "value": "64"
    },
    {
      "name": "ARCHIVE_CAPACITY",
      "type": "u32",
      "value": "1048576"
    },
    {
      "name": "ARCHIVE_DEPTH",
      "type": "u8",
      "value": "20"
    },
    {
      "name": "ARCHIVE_LEAF_DOMAIN",
      "type": "bytes",
      "value": "[97, 103, 101, 110, 116, 45, 109, 97, 114, 107, 101, 116, 112, 108, 97, 99, 101, 58, 97, 114, 99, 104, 105, 118, 101, 58, 118, 49]"
    },
    {
      "name": "ARCHIVE_SEED",
      "type": "bytes",
      "value": "[97, 114, 99, 104, 105, 118, 101]"
    },
    {
      "name": "ARCHIVE_SUCCESSOR_COUNT",
      "type": "u32",
      "value": "943719"
    },
    {
      "name": "ARCHIVE_TREE_BYTES",
      "type": "u32",
      "value": "44280"
    },
    {
      "name": "BPS_DENOMINATOR",
      "type": "u16",
      "value": "10000"
    },
    {
      "name": "COLLATERAL_SEED",
      "type": "bytes",
      "value": "[99, 111, 108, 108, 97, 116, 101, 114, 97, 108]"
    },
    {
      "name": "COLLATERAL_VAULT_SEED",
      "type": "bytes",
      "value": "[99, 111, 108, 108, 97, 116, 101, 114, 97, 108, 95, 118, 97, 117, 108, 116]"
    },
    {
      "name": "CONFIG_SEED",
      "type": "bytes",
      "value": "[99, 111, 110, 102, 105, 103]"
    },
    {
      "name": "CREATOR_SEED",
      "type": "bytes",
      "value": "[99, 114, 101, 97, 116, 111, 114]"
    },
    {
      "name": "DEFAULT_MAX_GAS_LAMPORTS",
      "type": "u32",
      "value": "20000"
    },
    {
      "name": "DISPUTE_BOND_LAMPORTS_MAX",
      "type": "u64",
      "value": "1000000000"
    },
    {
      "name": "DISPUTE_LAPSE_SECONDS",
      "type": "i64",
      "value": "2592000"
    },
    {
      "name": "DISPUTE_SEED",
      "type": "bytes",
      "value": "[100, 105, 115, 112, 117, 116, 101]"
    },
    {
      "name": "DISPUTE_WINDOW_SECONDS_MAX",
      "type": "u32",
      "value": "2592000"
    },
    {
      "name": "DISPUTE_WINDOW_SECONDS_MIN",
      "type": "u32",
      "value": "259200"
    },
    {
      "name": "ENDED_DISPUTE_SECONDS",
      "type": "i64",
      "value": "2592000"
    },
    {
      "name": "ENDED_RECORD_SECONDS",
      "type": "i64",
      "value": "259200"
    },
    {
      "name": "ESCROW_SEED",
      "type": "bytes",
      "value": "[101, 115, 99, 114, 111, 119]"
    },
    {
      "name": "EXECUTION_ID_DOMAIN",
      "type": "bytes",
      "value": "[97, 103, 101, 110, 116, 45, 109, 97, 114, 107, 101, 116, 112, 108, 97, 99, 101, 58, 101, 120, 101, 99, 117, 116, 105, 111, 110, 58, 118, 49]"
    },
    {
      "name": "EXECUTION_SEED",
      "type": "bytes",
      "value": "[101, 120, 101, 99, 117, 116, 105, 111, 110]"
    },
    {
      "name": "GRANT_SEED",
      "type": "bytes",
      "value": "[103, 114, 97, 110, 116]"
    },
    {
      "name": "KEY_SEED",
      "type": "bytes",
      "value": "[107, 101, 121]"
    },
    {
      "name": "LISTING_SEED",
      "type": "bytes",
      "value": "[108, 105, 115, 116, 105, 110, 103]"
    },
    {
      "name": "MAX_ARCHIVED_RECORDS",
      "type": "u8",
      "value": "12"
    },
    {
      "name": "MAX_COLLATERAL_TIERS",
      "type": "u8",
      "value": "4"
    },
    {
      "name": "MAX_FEE_BPS",
      "type": "u16",
      "value": "100"
    },
    {
      "name": "MAX_GAS_LAMPORTS",
      "type": "u32",
      "value": "100000"
    },
    {
      "name": "MAX_GRANT_SECONDS",
      "type": "i64",
      "value": "31536000"
    },
    {
      "name": "MAX_RELAY_AUTHORITIES",
      "type": "u8",
      "value": "8"
    },
    {
      "name": "MAX_TAGS",
      "type": "u8",
      "value": "5"
    },
    {
      "name": "MAX_TIMEOUT_SECONDS_MAX",
      "type": "u32",
      "value": "86400"
    },
    {
      "name": "MAX_TIMEOUT_SECONDS_MIN",
      "type": "u32",
      "value": "60"
    },
    {
      "name": "MAX_URI_LENGTH",
      "type": "u16",
      "value": "200"
    },
    {
      "name": "MIN_PRICE_CEILING",
      "type": "u64",
      "value": "1000000"
    },
    {
      "name": "MIN_PRICE_FLOOR",
      "type": "u64",
      "value": "10000"
    },
    {
      "name": "NONCE_DAY_SECONDS",
      "type": "u64",
      "value": "86400"
    },
    {
      "name": "REFUND_GRACE_SECONDS_MAX",
      "type": "u32",
      "value": "3600"
    },
    {
      "name": "REFUND_GRACE_SECONDS_MIN",
      "type": "u32",
      "value": "300"
    },
    {
      "name": "REGISTER_DOMAIN",
      "type": "bytes",
      "value": "[97, 103, 101, 110, 116, 45, 109, 97, 114, 107, 101, 116, 112, 108, 97, 99, 101, 58, 114, 101, 103, 105, 115, 116, 101, 114, 58, 118, 49, 58]"
    },
    {
      "name": "SPENDER_SEED",
      "type": "bytes",
      "value": "[115, 112, 101, 110, 100, 101, 114]"
    },
    {
      "name": "STANDARD_TAG_COUNT",
      "type": "u8",
      "value": "10"
    },
    {
      "name": "TREASURY_SEED",
      "type": "bytes",
      "value": "[116, 114, 101, 97, 115, 117, 114, 121]"
    },
    {
      "name": "UNARCHIVED_RECORD_SECONDS",
      "type": "i64",
      "value": "31536000"
    },
    {
      "name": "USDC_DECIMALS",
      "type": "u8",
      "value": "6"
    }
  ]
};
