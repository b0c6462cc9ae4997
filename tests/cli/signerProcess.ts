/**
 * A wallet whose key never leaves this process: it sends its address, and then answers each message with a signature.
 */
import { Keypair } from '@solana/web3.js';
import nacl from 'tweetnacl';

const keypair = Keypair.generate();

process.on('message', ({ id, bytes }: { id: number; bytes: number[] }) => {
  const signature = nacl.sign.detached(Uint8Array.from(bytes), keypair.secretKey);
  process.send?.({ id, signature: [...signature] });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ address: keypair.publicKey.toBase58() });
