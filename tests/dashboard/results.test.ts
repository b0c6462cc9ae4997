/** An agent's result, shown as people read it; and the first run from the home page. */
import { expect } from 'chai';
import { readResult, toCsv } from '../../app/dashboard/parts/result/read.ts';
import { pixelOf, urlOf } from '../harness/edge/pictures.ts';
import { until } from '../harness/edge/until.ts';
import { download } from './browser.ts';
import { useSite } from './site.ts';

const PIXEL = urlOf('image/png', pixelOf('image/png'));
const CITIES = 'city;people\nRome;2748109\n"Paris; centre";2102650\nOslo;717710\n';
const CODE_PICTURE = 'data:image/svg+xml;base64,PHN2Zy8+';

describe('the form of a result', () => {
  const FORMS: Record<string, [text: string, forms: string[]]> = {
    prose: ['Rome is warm, Oslo is cold.\nParis, too, is warm.\nThe rest is unknown.', ['text']],
    'CSV with semicolons and quotes': [CITIES, ['table', 'text']],
    'CSV with tabs': ['a\tb\n1\t2\n3\t4', ['table', 'text']],
    'rows of different lengths': ['a,b\n1,2\n3', ['text']],
    objects: ['[{"a": 1}, {"a": 2, "b": "x"}]', ['table', 'json', 'text']],
    'columns and rows': ['{"columns": ["a", "b"], "rows": [[1, 2], [3, 4]]}', ['table', 'json', 'text']],
    'columns with names, and rows of objects': [
      '{"columns": [{"name": "a"}], "rows": [{"a": 1}, {"a": 2}]}',
      ['table', 'json', 'text'],
    ],
    'rows that do not fit the columns': ['{"columns": ["a", "b"], "rows": [[1], [3, 4]]}', ['json', 'text']],
    'a list of numbers': ['[1, 2, 3]', ['json', 'text']],
    'one value in JSON': ['"text"', ['text']],
    'a picture': [PIXEL, ['pictures', 'text']],
    'a picture in a field': [JSON.stringify({ chart: PIXEL, about: 'x' }), ['pictures', 'json', 'text']],
    'a picture that could contain a program': [CODE_PICTURE, ['text']],
    Markdown: ['# Title\n\n- one\n- two', ['markdown', 'text']],
    'a table in Markdown': ['| a | b |\n|---|---|\n| 1 | 2 |', ['markdown', 'text']],
  };
  for (const [what, [text, forms]] of Object.entries(FORMS)) {
    it(`${forms.join(', ')}: ${what}`, () => expect(readResult(text).forms).to.deep.equal(forms));
  }

  it('reads each cell, and writes none that a spreadsheet would run', () => {
    const { table } = readResult(CITIES);
    expect(table).to.deep.equal({
      columns: ['city', 'people'],
      rows: [
        ['Rome', '2748109'],
        ['Paris; centre', '2102650'],
        ['Oslo', '717710'],
      ],
    });
    expect(toCsv({ columns: ['a'], rows: [['=1+1'], ['=1+1\nand more'], [null], [{ b: 1 }]] })).to.equal(
      'a\r\n"\'=1+1"\r\n"\'=1+1\nand more"\r\n\r\n"{""b"":1}"',
    );
  });
});

describe('results on the page', function () {
  this.timeout(600_000);
  const site = useSite();

  /** Runs sandbox-echo, whose result is its task, and opens the execution. */
  async function openEcho(visit: (page: import('playwright-core').Page) => Promise<void>, task: string) {
    const { body } = await site.visitor.execute('sandbox-echo', { task });
    await site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`/executions/${body.execution_id}`);
      await page.getByRole('heading', { name: 'Result' }).waitFor();
      await visit(page);
    });
  }

  it('a table sorts by number, filters, is saved as CSV, and the exact text stays one click away', () =>
    openEcho(async (page) => {
      const table = page.getByRole('region', { name: 'Result as a table' });
      const cities = () => table.locator('tbody td:first-child').allTextContents();
      await table.getByRole('cell').first().waitFor();
      expect(await cities()).to.deep.equal(['Rome', 'Paris; centre', 'Oslo']);
      await table.getByRole('button', { name: 'people' }).press('Enter');
      await table.locator('th[aria-sort="descending"], th[aria-sort="ascending"]').waitFor();
      const first = await cities();
      await table.getByRole('button', { name: 'people' }).press('Enter');
      await until('it is sorted the other way', async () => (await cities())[0] !== first[0]);
      expect([first, await cities()].map(([city]) => city).sort()).to.deep.equal(['Oslo', 'Rome']);
      const { text } = await download(page, page.getByRole('button', { name: 'Save as CSV' }));
      expect(text).to.match(/^city,people\r\nRome,2748109\r\n/);
      await page.getByRole('tab', { name: 'Exact text' }).click();
      await page.getByRole('region', { name: 'Result' }).getByText('"Paris; centre";2102650').waitFor();
    }, CITIES));

  it('a picture is drawn, and JSON is a tree', () =>
    openEcho(
      async (page) => {
        const picture = page.getByRole('img', { name: 'The agent’s picture “chart”' });
        await picture.waitFor();
        await until('it is drawn', () =>
          picture.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth === 1),
        );
        await page.getByRole('tab', { name: 'JSON' }).click();
        await page.getByRole('region', { name: 'Result as a tree' }).getByText('about').waitFor();
      },
      JSON.stringify({ chart: PIXEL, about: { depth: [1, 2] } }),
    ));

  it('a long text is folded, and opens whole', () =>
    openEcho(
      async (page) => {
        await page.getByRole('button', { name: 'Show all of it' }).click();
        await page.getByRole('region', { name: 'Result' }).getByText('This is line 200').waitFor();
        await page.getByRole('button', { name: 'Show all of it' }).waitFor({ state: 'detached' });
      },
      Array.from({ length: 200 }, (_, index) => `This is line ${index + 1}`).join('\n'),
    ));

  it('one click on the home page gives a first real result, and a reload does not pay again', () =>
    site.visit({}, async (page) => {
      await page.goto('/');
      await page.getByText('Test network. Its money, USDC and SOL, has no value.').waitFor();
      expect(await page.title()).to.equal('TEST · Agent Marketplace');
      const before = await site.visitor.balances();
      await page.getByRole('button', { name: 'Run its example' }).click();
      await page.getByRole('heading', { name: 'Result', exact: true }).waitFor();
      await page.getByText('Paid', { exact: true }).waitFor();
      const paid = await site.visitor.balances();
      expect(paid).to.not.deep.equal(before);
      await page.reload();
      await page.getByRole('heading', { name: 'Result', exact: true }).waitFor();
      expect(await page.getByRole('dialog').count()).to.equal(0);
      expect(await site.visitor.balances()).to.deep.equal(paid);
    }));
});
