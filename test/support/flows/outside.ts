import { onTestFinished } from 'vitest';
import { freePort } from '../../../demo/ports.ts';
import { proxyTo, tlsBefore, trust } from '../docs-api/tls.ts';
import { makeCertificates } from '../store/certificates.ts';
import { openWay } from './redis-way.ts';
import { temporaryFolder, type World } from './world.ts';

export type Outside = Awaited<ReturnType<typeof openOutside>>;

/** The platform over https and through a proxy, until the test ends. `env` leads a bot there. */
export async function openOutside({ platform }: World) {
  const host = 'docs-api.test';
  const certificates = () => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    return makeCertificates(folder.path, { names: `DNS:${host}` });
  };
  const server = await platform.listen();
  onTestFinished(() => server.close());
  const url = (port: number) => `http://127.0.0.1:${port}`;
  const { port } = new URL(server.url);
  const [trusted, foreign] = [certificates(), certificates()];
  trust(trusted);
  const trustedUrl = url(await tlsBefore(Number(port), trusted));
  const foreignUrl = url(await tlsBefore(Number(port), foreign));
  const toPlatform = await openWay(trustedUrl);
  const proxy = await proxyTo(toPlatform.port);
  const refusingProxy = await proxyTo(toPlatform.port, 403);
  let toProxy = await openWay(proxy.url, await freePort());
  onTestFinished(() => {
    toPlatform.close();
    toProxy.close();
  });
  return {
    env: { DOCS_API_URL: `https://${host}`, HTTPS_PROXY: url(toProxy.port) },
    /** The platform shows a certificate that nobody trusts. */
    async loseTrust() {
      toPlatform.leadTo(foreignUrl);
      toPlatform.cut();
    },
    async proxyRefuses() {
      toProxy.leadTo(refusingProxy.url);
      toProxy.cut();
    },
    /** Nobody listens where the proxy was. */
    proxyGoes: async () => toProxy.close(),
    async heal() {
      toPlatform.leadTo(trustedUrl);
      toPlatform.cut();
      toProxy.close();
      toProxy = await openWay(proxy.url, toProxy.port);
    },
  };
}
