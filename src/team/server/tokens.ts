/**
 * Short-lived tokens of devices. A device signs its request for a token, and every request that changes something; a
 * signature is accepted once, within some minutes of the server's time.
 */
import { createHmac, createPublicKey, randomBytes, timingSafeEqual, verify } from 'node:crypto'
import { fieldsOf, numberOf } from '../../lib/unknown-values.ts'
import { isUniqueViolation, type TeamDatabase } from '../postgres/database.ts'
import { proofText, tokenText } from '../protocol.ts'
import type { Person } from './people.ts'
import type { Team } from './team-settings.ts'

const TOKEN_SECONDS = 600
/** How far the clocks of device and server may differ. */
export const MAX_SKEW_MS = 300_000

export interface DeviceIdentity {
  readonly device: number
  readonly person: Person
  readonly publicKey: string
  readonly token: string
}

export type Refusal = 'unknown' | 'revoked' | 'expired' | 'clock' | 'replayed' | 'signature'
export type Checked<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly why: Refusal }

const refused = (why: Refusal): { readonly kind: 'refused'; readonly why: Refusal } => ({ kind: 'refused', why })

interface SignedTime {
  readonly at: string
  readonly nonce: string
  readonly signature: string
}

export async function issueToken(
  database: TeamDatabase,
  team: Team,
  request: SignedTime & { readonly device: number },
): Promise<Checked<{ readonly token: string; readonly expires_in: number }>> {
  const { device, at, nonce, signature } = request
  const known = await readDevice(database, device)
  if (!known) return refused('unknown')
  if (known.revoked) return refused('revoked')
  const checked = await acceptOnce(database, device, known.publicKey, tokenText(team.id, device, at, nonce), {
    at,
    nonce,
    signature,
  })
  if (checked !== 'ok') return refused(checked)
  await database.asServer((db) => db.run('UPDATE device SET seen_at = now() WHERE id = $1', [device]))
  const until = Math.floor(Date.now() / 1000) + TOKEN_SECONDS
  const content = Buffer.from(
    JSON.stringify({ d: device, u: until, r: randomBytes(9).toString('base64url') }),
  ).toString('base64url')
  return { kind: 'ok', value: { token: `${content}.${tokenMac(team, content)}`, expires_in: TOKEN_SECONDS } }
}

const tokenMac = ({ tokenKey }: Team, content: string): string =>
  createHmac('sha256', tokenKey).update(`token ${content}`).digest('base64url')

/** The device of a token. Asks the database each time, so that a revoked device is refused at once. */
export async function checkToken(database: TeamDatabase, team: Team, token: string): Promise<Checked<DeviceIdentity>> {
  const [content = '', mac = ''] = token.split('.', 2)
  const expected = Buffer.from(tokenMac(team, content))
  const given = Buffer.from(mac)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return refused('unknown')
  const fields = fieldsOf(JSON.parse(Buffer.from(content, 'base64url').toString()))
  if ((numberOf(fields?.['u']) ?? 0) < Date.now() / 1000) return refused('expired')
  const device = numberOf(fields?.['d']) ?? 0
  const known = await readDevice(database, device)
  if (!known) return refused('unknown')
  if (known.revoked) return refused('revoked')
  const { publicKey, ...person } = known
  return {
    kind: 'ok',
    value: {
      device,
      publicKey,
      token,
      person: { id: person.id, name: person.name, email: person.email, is_admin: person.is_admin },
    },
  }
}

/** @param header `<time> <nonce> <signature>` */
export async function checkProof(
  database: TeamDatabase,
  { device, publicKey, token }: DeviceIdentity,
  header: string,
  request: { readonly method: string; readonly target: string; readonly bodyHash: string },
): Promise<'ok' | Refusal> {
  const [at = '', nonce = '', signature = ''] = header.split(' ', 3)
  return acceptOnce(database, device, publicKey, proofText({ ...request, token, at, nonce }), { at, nonce, signature })
}

async function acceptOnce(
  database: TeamDatabase,
  device: number,
  publicKey: string,
  text: string,
  { at, nonce, signature }: SignedTime,
): Promise<'ok' | Refusal> {
  const difference = Math.abs(Date.parse(at) - Date.now())
  if (!(difference <= MAX_SKEW_MS)) return 'clock'
  if (!/^[\w-]{16,64}$/.test(nonce)) return 'signature'
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' })
  if (!verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))) return 'signature'
  try {
    await database.asServer((db) =>
      db.run(
        `INSERT INTO used_nonce (device_id, nonce, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))`,
        [
          device,
          nonce,
          // Until its time is too old on any clock.
          (2 * MAX_SKEW_MS) / 1000,
        ],
      ),
    )
    return 'ok'
  } catch (error) {
    if (isUniqueViolation(error)) return 'replayed'
    throw error
  }
}

interface KnownDevice extends Person {
  readonly publicKey: string
  readonly revoked: boolean
}

const readDevice = (database: TeamDatabase, device: number): Promise<KnownDevice | undefined> =>
  database.asServer((db) =>
    db.first<KnownDevice>(
      `SELECT p.id, p.name, p.email, p.is_admin, d.public_key AS "publicKey",
         d.revoked_at IS NOT NULL OR p.left_at IS NOT NULL AS revoked
       FROM device d JOIN person p ON p.id = d.person_id WHERE d.id = $1`,
      [device],
    ),
  )

export const isDeviceValid = async (database: TeamDatabase, device: number): Promise<boolean> =>
  (await readDevice(database, device))?.revoked === false

/** What nobody needs any more: nonces, codes and sessions of browsers that have expired. */
export const removeExpired = (database: TeamDatabase): Promise<void> =>
  database.asServer(async (db) => {
    await db.run('DELETE FROM used_nonce WHERE expires_at < now()')
    await db.run(`DELETE FROM invitation WHERE expires_at < now() - interval '7 days'`)
    await db.run('DELETE FROM sign_in WHERE expires_at < now()')
  })
