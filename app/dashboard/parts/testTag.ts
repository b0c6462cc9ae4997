/** The tag of agents for testing clients, most of which fail on purpose. */
export const TEST_TAG = 'sandbox';
