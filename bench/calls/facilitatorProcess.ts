/** Runs the facilitator of x402's own packages: `node facilitatorProcess.ts RPC_URL SECRET_KEY_HEX`. */
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';
import express from 'express';
import { NETWORK } from './side.ts';

const [rpcUrl, secretKey] = process.argv.slice(2);
const keypair = await createKeyPairSignerFromBytes(Buffer.from(secretKey!, 'hex'));
const facilitator = registerExactSvmScheme(new x402Facilitator(), {
  networks: NETWORK,
  signer: toFacilitatorSvmSigner(keypair, { defaultRpcUrl: rpcUrl! }),
});

const app = express();
app.use(express.json());
app.get('/supported', (_request, response) => void response.json(facilitator.getSupported()));
app.post('/verify', async ({ body }, response) => {
  response.json(await facilitator.verify(body.paymentPayload, body.paymentRequirements));
});
app.post('/settle', async ({ body }, response) => {
  response.json(await facilitator.settle(body.paymentPayload, body.paymentRequirements));
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit(0));
