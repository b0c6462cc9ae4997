/** JSON as a tree whose branches open and close. */
import { JsonView } from 'react-json-view-lite';

/** Levels that are open at first. */
const OPEN_LEVELS = 2;
/** Longer lists are closed at first. */
const LONG_LIST = 50;

const ICON = 'inline-grid w-4 cursor-pointer place-items-center text-faint select-none';

const STYLE = {
  container: 'font-mono text-[0.8125rem] leading-6 break-words',
  basicChildStyle: 'pl-4',
  childFieldsContainer: '',
  label: 'mr-1.5 text-accent',
  clickableLabel: 'mr-1.5 cursor-pointer text-accent',
  nullValue: 'text-faint',
  undefinedValue: 'text-faint',
  numberValue: 'text-warn tabular-nums',
  stringValue: 'text-good whitespace-pre-wrap',
  booleanValue: 'text-warn',
  otherValue: '',
  punctuation: 'text-faint',
  expandIcon: `${ICON} before:content-['▸']`,
  collapseIcon: `${ICON} before:content-['▾']`,
  collapsedContent: "cursor-pointer text-faint before:content-['…']",
  ariaLables: { expandJson: 'Open', collapseJson: 'Close' },
  stringifyStringValues: false,
};

export default function Tree({ json }: { json: object }) {
  return (
    <section tabIndex={0} aria-label="Result as a tree" className="max-h-128 overflow-auto rounded-lg bg-sunken p-4">
      <JsonView
        data={json}
        style={STYLE}
        clickToExpandNode
        shouldExpandNode={(level, value) => level < OPEN_LEVELS && Object.keys(value ?? {}).length <= LONG_LIST}
      />
    </section>
  );
}
