using Workerd = import "/workerd/workerd.capnp";

# What wrangler makes of a worker without a setting of its own, but for addresses of this computer, which it may ask here.
const config :Workerd.Config = (
  services = [
    (name = "program", worker = .program),
    (name = "network", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "program")],
);

const program :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-01",
  globalOutbound = "network",
);
