/** Lists that are read page by page, while they are iterated over. */

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** Number of matches on all pages. */
  total: number;
  limit: number;
  offset: number;
}

/** Iterate over it for all items, over `pages()` for all pages, or read one `page()`. Each iteration starts again. */
export class Listing<Item> implements AsyncIterable<Item> {
  readonly #read: (offset: number) => Promise<Page<Item>>;
  readonly #offset: number;

  constructor(read: (offset: number) => Promise<Page<Item>>, offset: number) {
    this.#read = read;
    this.#offset = offset;
  }

  /** The first page, with the number of matches. */
  page(): Promise<Page<Item>> {
    return this.#read(this.#offset);
  }

  async *pages(): AsyncGenerator<Page<Item>, void> {
    for (let offset = this.#offset; ; ) {
      const page = await this.#read(offset);
      if (page.items.length > 0) yield page;
      offset += page.items.length;
      if (page.items.length === 0 || offset >= page.total) return;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const { items } of this.pages()) yield* items;
  }
}
