/** A seller behind x402's Express middleware: `node sellerProcess.ts FACILITATOR_URL PAY_TO MINT AMOUNT`. */
import type { AddressInfo } from 'node:net';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import express from 'express';
import { NETWORK } from './side.ts';

const [url, payTo, asset, amount] = process.argv.slice(2);
const accepts = {
  scheme: 'exact',
  network: NETWORK,
  payTo: payTo!,
  price: { asset: asset!, amount: amount! },
  maxTimeoutSeconds: 60,
} as const;
const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: url! }));

const app = express();
app.use(express.json());
app.use(
  paymentMiddleware(
    { 'POST /paid': { accepts, description: 'bench' } },
    resources.register(NETWORK, new ExactSvmScheme()),
  ),
);
app.post('/paid', (_request, response) => void response.json({ result: 'done' }));
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit(0));
