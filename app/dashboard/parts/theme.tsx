/** Changes between light and dark colours, and keeps the choice in this browser. */
import { Icon } from './icons.tsx';
import { buttonStyle } from './ui.tsx';

const LABEL = 'Light or dark colours';

function change(): void {
  const root = document.documentElement;
  const current = root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset.theme = current === 'dark' ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
}

/** `hasText` shows its name beside the picture. */
export function ThemeButton({ hasText = false }: { hasText?: boolean }) {
  return (
    <button
      type="button"
      onClick={change}
      className={hasText ? buttonStyle('quiet') : 'inline-grid size-10 place-items-center rounded-lg hover:bg-sunken'}
      aria-label={hasText ? undefined : LABEL}
      title={hasText ? undefined : LABEL}
    >
      <Icon>
        <circle cx="8" cy="8" r="5.5" />
        <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
      </Icon>
      {hasText && LABEL}
    </button>
  );
}
