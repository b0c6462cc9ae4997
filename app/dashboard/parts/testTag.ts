/** The tag of agents for testing clients, most of which fail on purpose. */
export const TEST_TAG = 'sandbox';

interface Tagged {
  tags: string[];
}

export const isForTests = ({ tags }: Tagged): boolean => tags.includes(TEST_TAG);

/** True if `other` can be offered beside `agent`: an agent for testing only beside another one. */
export const fitsBeside = (other: Tagged, agent: Tagged): boolean => !isForTests(other) || isForTests(agent);
