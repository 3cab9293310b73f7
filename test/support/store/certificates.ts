import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of an authority, and of a certificate that it signed for 127.0.0.1. */
export interface Certificates {
  ca: string;
  cert: string;
  key: string;
}

const openssl = (folder: string, line: string) => {
  const { status, stderr } = spawnSync('openssl', line.split(' '), { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};

/** Makes them with openssl. `names` is what the certificate is for; `days` below 0: it has expired. */
export function makeCertificates(folder: string, { names = 'IP:127.0.0.1', days = 2 } = {}): Certificates {
  const ec = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(folder, `req -x509 ${ec} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority`);
  openssl(folder, `req ${ec} -keyout key.pem -out request.pem -subj /CN=redis`);
  writeFileSync(join(folder, 'extensions'), `subjectAltName=${names}\n`);
  const signed = '-CA ca.pem -CAkey ca.key -CAcreateserial -extfile extensions -out cert.pem';
  openssl(folder, `x509 -req -in request.pem ${signed} -days ${days}`);
  return { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
}
