/** The tag of agents for testing clients, most of which fail on purpose. */
export const TEST_TAG = 'sandbox';

interface Tagged {
  tags: string[];
}

export const isForTests = ({ tags }: Tagged): boolean => tags.includes(TEST_TAG);

/** A test agent has a badge instead of its tag. */
export const isShownTag = (tag: string): boolean => tag !== TEST_TAG;
