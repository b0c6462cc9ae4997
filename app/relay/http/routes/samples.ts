/** Values shared by the examples of several routes. */
export const AGENT_ID = '7Zb1bGi32pfsrBkzWdqd4dFhUXwp5Nybr1zuaEwN34hy';
export const CREATOR = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';
export const WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
export const EXECUTION_ID = 'b566c309-b734-86c3-aa14-0eba1f5ff01a';
export const TOKEN = 'eRpoS7A1ZndgETi8glDBwgKYBfoVuFbg';

export const INPUT_SCHEMA = {
  type: 'object',
  properties: { csv: { type: 'string' }, query: { type: 'string', maxLength: 10000 } },
  required: ['csv', 'query'],
};
export const OUTPUT_SCHEMA = { type: 'object', properties: { row_count: { type: 'integer' } } };

/** Parts of paths for `params`. */
export const AGENT_PARAM = { about: 'The agent: the base58 address of its on-chain listing.', example: AGENT_ID };
export const EXECUTION_PARAM = { about: 'The execution, a UUID.', example: EXECUTION_ID };
