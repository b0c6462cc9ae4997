/** Call this when the focused element disappears. Otherwise the next Tab starts at the top of the page. */
export function focusContent(): void {
  document.getElementById('content')?.focus({ preventScroll: true });
}
