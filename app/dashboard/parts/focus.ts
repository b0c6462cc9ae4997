/** Where the focus goes when the element that had it is gone. Without it, the next Tab starts at the top of the page. */
export function focusContent(): void {
  document.getElementById('content')?.focus({ preventScroll: true });
}
