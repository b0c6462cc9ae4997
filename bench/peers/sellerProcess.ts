/**
 * A seller behind x402's Express middleware: `node sellerProcess.ts FACILITATOR_URL PAY_TO MINT AMOUNT`. Each route is
 * a case of the comparison and reports to the parent that its work has run. `/hold` then waits for a message.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import express from 'express';
import { NETWORK } from './side.ts';

const SLOW_MS = 1_500;

const [url, payTo, asset, amount] = process.argv.slice(2);
const accepts = {
  scheme: 'exact',
  network: NETWORK,
  payTo: payTo!,
  price: { asset: asset!, amount: amount! },
  maxTimeoutSeconds: 60,
} as const;
const paid = { accepts, description: 'bench' };
const upfront = { accepts: { ...accepts, extra: { paymentFlow: 'upfront' } }, description: 'bench' };
const facilitator = new HTTPFacilitatorClient({ url: url! });
const resources = new x402ResourceServer(facilitator).register(NETWORK, new ExactSvmScheme());

const app = express();
app.use(express.json());
app.use(
  paymentMiddleware(
    { 'POST /paid': paid, 'POST /fails': paid, 'POST /fails-upfront': upfront, 'POST /hold': paid, 'POST /slow': paid },
    resources,
  ),
);
const ran = () => process.send?.({ ran: true });
app.post('/paid', (_request, response) => {
  ran();
  response.json({ result: 'done' });
});
app.post(['/fails', '/fails-upfront'], (_request, response) => {
  ran();
  response.status(500).json({ error: 'it failed' });
});
app.post('/hold', (_request, response) => {
  process.once('message', () => response.json({ result: 'done' }));
  ran();
});
app.post('/slow', async (_request, response) => {
  ran();
  await sleep(SLOW_MS);
  response.json({ result: 'done' });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
