"""The groups of methods of the client for asyncio. `npm run build:client` makes `_blocking` from them."""
