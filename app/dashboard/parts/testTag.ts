/** The tag of agents for testing clients, most of which fail on purpose. */
export const TEST_TAG = 'sandbox';

interface Tagged {
  tags: string[];
}

export const isForTests = ({ tags }: Tagged): boolean => tags.includes(TEST_TAG);
