import { PageHead } from '../parts/ui.tsx';

export default function View() {
  return <PageHead title="keys" />;
}
