/** People of the team, their devices, and the codes by which both come in. */
import { createHash, createPublicKey, randomBytes, randomInt } from 'node:crypto'
import { AppError } from '../../model/error.ts'
import { isUniqueViolation, type TeamDatabase, type Transaction } from '../postgres/database.ts'
import type { InviteBody, JoinBody, JoinReply } from '../protocol.ts'
import { readTeam } from './team-settings.ts'

export interface Person {
  readonly id: number
  readonly name: string
  readonly email: string | null
  readonly is_admin: boolean
}

/** Without letters and digits that look alike. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
/** 20 of 31 signs: 99 bits. */
const CODE_LENGTH = 20
const DEFAULT_HOURS = 24
/** A code that a command makes and a browser uses at once. */
const SIGN_IN_MINUTES = 5

const newCode = (): string =>
  Array.from(
    { length: CODE_LENGTH },
    (_, at) => (at > 0 && at % 5 === 0 ? '-' : '') + (CODE_ALPHABET[randomInt(CODE_ALPHABET.length)] ?? ''),
  ).join('')

/** However it was typed. */
const hashCode = (code: string): string => hashSecret(code.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''))

export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** @param by the person who invites; undefined: the person who runs the server */
export async function invite(database: TeamDatabase, body: InviteBody, by: Person | undefined): Promise<string> {
  if (by && !by.is_admin && !body.is_own)
    throw new AppError(
      'no_permission',
      'Only administrators of the team invite people. To add a device of your own: fumi team invite --device',
      'チームに人を招待できるのは管理者だけです。自分の機器を追加するには: fumi team invite --device',
    )
  if (body.is_own && !by)
    throw new AppError('bad_usage', 'Name the person to invite.', '招待する人の名前を指定してください。')
  const code = newCode()
  await database.asServer((db) =>
    db.run(
      `INSERT INTO invitation (code_hash, purpose, person_id, person_name, email, is_admin, invited_by, expires_at)
       VALUES ($1, 'join', $2, $3, $4, $5, $6, now() + make_interval(hours => $7))`,
      [
        hashCode(code),
        body.is_own ? by?.id : null,
        body.name ?? null,
        body.email?.toLowerCase() ?? null,
        body.is_admin === true && !body.is_own,
        by?.id ?? null,
        body.hours ?? DEFAULT_HOURS,
      ],
    ),
  )
  return code
}

/** A code that signs a browser in. */
export async function createSignInCode(database: TeamDatabase, person: Person): Promise<string> {
  const code = newCode()
  await database.asServer((db) =>
    db.run(
      `INSERT INTO invitation (code_hash, purpose, person_id, expires_at)
       VALUES ($1, 'sign_in', $2, now() + make_interval(mins => $3))`,
      [hashCode(code), person.id, SIGN_IN_MINUTES],
    ),
  )
  return code
}

export type CodeResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'wrong' | 'used' | 'expired' }

interface UsedInvitation {
  readonly purpose: 'join' | 'sign_in'
  readonly person_id: number | null
  readonly person_name: string | null
  readonly email: string | null
  readonly is_admin: boolean
}

/** Uses a code up, in the transaction that does what it allows. */
async function takeCode(
  db: Transaction,
  code: string,
  purposes: readonly UsedInvitation['purpose'][],
): Promise<CodeResult<UsedInvitation>> {
  const hash = hashCode(code)
  const taken = await db.first<UsedInvitation>(
    `UPDATE invitation SET used_at = now() WHERE code_hash = $1 AND used_at IS NULL AND expires_at > now()
       AND purpose = ANY ($2) RETURNING purpose, person_id, person_name, email, is_admin`,
    [hash, purposes],
  )
  if (taken) return { kind: 'done', value: taken }
  const known = await db.first<{ used: boolean }>(
    'SELECT used_at IS NOT NULL AS used FROM invitation WHERE code_hash = $1',
    [hash],
  )
  return { kind: known ? (known.used ? 'used' : 'expired') : 'wrong' }
}

/** Enrols a device: the invited person, or a new one, and the public key of the device. */
export async function join(database: TeamDatabase, body: JoinBody): Promise<CodeResult<JoinReply>> {
  assertEd25519(body.public_key)
  try {
    return await database.asServer(async (db) => {
      const taken = await takeCode(db, body.code, ['join'])
      if (taken.kind !== 'done') return taken
      const person = await personOfInvitation(db, taken.value, body.name, body.user)
      const device = await db.first<{ id: number }>(
        'INSERT INTO device (person_id, name, public_key) VALUES ($1, $2, $3) RETURNING id',
        [person.id, body.device, body.public_key],
      )
      const { id, name } = await readTeam(db)
      return {
        kind: 'done',
        value: {
          team: { id, name },
          person: { id: person.id, name: person.name, is_admin: person.is_admin },
          device: device?.id ?? 0,
        },
      }
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new AppError(
      'busy',
      'Somebody of the team has this name, or this device is enrolled already. Join with another --name.',
      '同じ名前の人がチームにいるか、この機器はすでに登録されています。--name で別の名前を指定してください。',
    )
  }
}

function assertEd25519(publicKey: string): void {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyType === 'ed25519') return
  } catch {
    // Reported below.
  }
  throw new AppError('bad_usage', 'The key of the device is no Ed25519 key.', '機器の鍵が Ed25519 の鍵ではありません。')
}

async function personOfInvitation(
  db: Transaction,
  taken: UsedInvitation,
  typedName: string | undefined,
  accountName?: string,
): Promise<Person> {
  if (taken.person_id !== null) {
    const known = await readPerson(db, taken.person_id)
    if (known && typedName !== undefined && typedName !== known.name) {
      // Who signed in by a browser first has no name of their own yet.
      await db.run('UPDATE person SET name = $2 WHERE id = $1', [known.id, typedName])
      return { ...known, name: typedName }
    }
    if (known) return known
  }
  const email = taken.email
  const known =
    email === null
      ? undefined
      : await db.first<Person>(`${SELECT_PERSON} WHERE email = $1 AND left_at IS NULL`, [email])
  if (known) return known
  return addPerson(db, {
    name: taken.person_name ?? typedName ?? email?.split('@')[0] ?? accountName ?? 'member',
    email,
    subject: null,
    is_admin: taken.is_admin,
  })
}

interface NewPerson {
  readonly name: string
  readonly email: string | null
  readonly subject: string | null
  readonly is_admin: boolean
}

export async function addPerson(db: Transaction, { name, email, subject, is_admin }: NewPerson): Promise<Person> {
  const person = await db.first<Person>(
    `INSERT INTO person (name, email, subject, is_admin) VALUES ($1, $2, $3, $4) RETURNING id, name, email, is_admin`,
    [name, email, subject, is_admin],
  )
  if (!person) throw new Error('a person was not added')
  await db.run(`INSERT INTO audience (kind, person_id) VALUES ('own', $1)`, [person.id])
  await db.run(
    `INSERT INTO audience_member (person_id, audience_id)
     SELECT $1, id FROM audience WHERE kind = 'team' OR kind = 'own' AND person_id = $1`,
    [person.id],
  )
  return person
}

export const SELECT_PERSON = 'SELECT id, name, email, is_admin FROM person'

export const readPerson = (db: Transaction, id: number): Promise<Person | undefined> =>
  db.first<Person>(`${SELECT_PERSON} WHERE id = $1 AND left_at IS NULL`, [id])

const SIGNED_IN_DAYS = 30

/** Exchanges a code for a cookie. An invitation signs in too, and becomes a person. */
export function signIn(
  database: TeamDatabase,
  code: string,
): Promise<CodeResult<{ readonly cookie: string; readonly person: Person }>> {
  return database.asServer(async (db) => {
    const taken = await takeCode(db, code, ['join', 'sign_in'])
    if (taken.kind !== 'done') return taken
    const person = await personOfInvitation(db, taken.value, undefined)
    return { kind: 'done', value: { cookie: await startSession(db, person.id), person } }
  })
}

export async function startSession(db: Transaction, person: number): Promise<string> {
  const cookie = randomBytes(32).toString('base64url')
  await db.run(
    `INSERT INTO sign_in (cookie_hash, person_id, expires_at) VALUES ($1, $2, now() + make_interval(days => $3))`,
    [hashSecret(cookie), person, SIGNED_IN_DAYS],
  )
  return cookie
}

export const personOfCookie = (database: TeamDatabase, cookie: string): Promise<Person | undefined> =>
  database.asServer((db) =>
    db.first<Person>(
      `SELECT p.id, p.name, p.email, p.is_admin FROM sign_in s JOIN person p ON p.id = s.person_id
       WHERE s.cookie_hash = $1 AND s.expires_at > now() AND p.left_at IS NULL`,
      [hashSecret(cookie)],
    ),
  )

export const signOut = (database: TeamDatabase, cookie: string): Promise<number> =>
  database.asServer((db) => db.run('DELETE FROM sign_in WHERE cookie_hash = $1', [hashSecret(cookie)]))

export interface DeviceItem {
  readonly id: number
  readonly name: string
  readonly person: string
  readonly joined_at: Date
  readonly seen_at: Date | null
  readonly revoked_at: Date | null
}

/** Those of a person, or of everybody for an administrator. */
export const listDevices = (database: TeamDatabase, { id, is_admin }: Person): Promise<readonly DeviceItem[]> =>
  database.asServer((db) =>
    db.rows<DeviceItem>(
      `SELECT d.id, d.name, p.name AS person, d.joined_at, d.seen_at, d.revoked_at FROM device d
       JOIN person p ON p.id = d.person_id WHERE d.person_id = $1 OR $2 ORDER BY p.name, d.id`,
      [id, is_admin],
    ),
  )

/** Browsers of a person, and codes by which another browser or device of theirs could come in. */
export async function signOutEverywhere(db: Transaction, person: number): Promise<void> {
  await db.run('DELETE FROM sign_in WHERE person_id = $1', [person])
  await db.run('DELETE FROM invitation WHERE person_id = $1 AND used_at IS NULL', [person])
}

/**
 * Also signs every browser of its person out: one of them may be on the device.
 * @returns false if there is no such device, or if it is another person's
 */
export const revokeDevice = (database: TeamDatabase, device: number, { id, is_admin }: Person): Promise<boolean> =>
  database.asServer(async (db) => {
    const revoked = await db.first<{ person_id: number }>(
      `UPDATE device SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL AND (person_id = $2 OR $3)
       RETURNING person_id`,
      [device, id, is_admin],
    )
    if (revoked) await signOutEverywhere(db, revoked.person_id)
    return revoked !== undefined
  })

export const listPeople = (
  database: TeamDatabase,
): Promise<readonly { readonly id: number; readonly name: string }[]> =>
  database.asServer((db) => db.rows('SELECT id, name FROM person WHERE left_at IS NULL ORDER BY name'))
