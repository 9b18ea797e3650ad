/** This device's membership of a team, and what its user agreed to share: files in the data directory, readable only by the user. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { fieldsOf, listOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { SHARINGS, type Sharing } from '../protocol.ts'

export interface Membership {
  /** Of the server, ending with a slash. */
  readonly url: string
  readonly team: { readonly id: string; readonly name: string }
  readonly person: string
  readonly device: number
  readonly privateKey: KeyObject
}

export interface DeviceKeys {
  /** SPKI, base64url. */
  readonly publicKey: string
  readonly privateKey: KeyObject
}

export function createDeviceKeys(): DeviceKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'), privateKey }
}

const membershipPath = (directory: string): string => join(directory, 'team', 'membership.json')
const consentPath = (directory: string): string => join(directory, 'team', 'shared.json')
const sentPath = (directory: string): string => join(directory, 'team', 'sent.json')

export function saveMembership(directory: string, { privateKey, ...membership }: Membership): void {
  const key = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url')
  replaceOwnFile(membershipPath(directory), `${JSON.stringify({ ...membership, private_key: key })}\n`)
}

export function readMembership(directory: string): Membership | undefined {
  const fields = readJsonFile(membershipPath(directory))
  const team = fieldsOf(fields?.['team'])
  const [url, person, key] = [fields?.['url'], fields?.['person'], fields?.['private_key']].map(stringOf)
  const device = numberOf(fields?.['device'])
  if (url === undefined || person === undefined || key === undefined || device === undefined) return undefined
  const privateKey = createPrivateKey({ key: Buffer.from(key, 'base64url'), format: 'der', type: 'pkcs8' })
  return {
    url,
    person,
    device,
    privateKey,
    team: { id: stringOf(team?.['id']) ?? '', name: stringOf(team?.['name']) ?? '' },
  }
}

export function requireMembership(directory: string): Membership {
  const membership = readMembership(directory)
  if (membership) return membership
  throw new AppError(
    'bad_usage',
    'This device has not joined a team. Run fumi team join with the link of your invitation.',
    'この機器はチームに参加していません。招待のリンクを指定して fumi team join を実行してください。',
  )
}

/** Also what was sent: another team starts from nothing. What the user shares stays, but is off until it is confirmed. */
export function removeMembership(directory: string): void {
  for (const path of [membershipPath(directory), consentPath(directory), sentPath(directory)])
    rmSync(path, { force: true })
}

export interface SharedWith {
  readonly shared: Sharing
  /** Names, with `named`. */
  readonly people: readonly string[]
}

/** By directory and by session id. A session's own choice wins; without any choice nothing leaves. */
export interface Consent {
  readonly projects: ReadonlyMap<string, SharedWith>
  readonly sessions: ReadonlyMap<string, SharedWith | 'off'>
}

export function readConsent(directory: string): Consent {
  const fields = readJsonFile(consentPath(directory))
  const projects = new Map<string, SharedWith>()
  const sessions = new Map<string, SharedWith | 'off'>()
  for (const [path, value] of Object.entries(fieldsOf(fields?.['projects']) ?? {})) {
    const parsed = parseShared(value)
    if (parsed) projects.set(path, parsed)
  }
  for (const [id, value] of Object.entries(fieldsOf(fields?.['sessions']) ?? {})) {
    // What cannot be understood means no.
    sessions.set(id, parseShared(value) ?? 'off')
  }
  return { projects, sessions }
}

function parseShared(value: unknown): SharedWith | undefined {
  const fields = fieldsOf(value)
  const shared = SHARINGS.find((one) => one === fields?.['shared'])
  return shared && { shared, people: listOf(fields?.['people']).filter((one) => typeof one === 'string') }
}

export function saveConsent(directory: string, { projects, sessions }: Consent): void {
  const content = { projects: Object.fromEntries(projects), sessions: Object.fromEntries(sessions) }
  replaceOwnFile(consentPath(directory), `${JSON.stringify(content, undefined, 2)}\n`)
}

/** Undefined: it does not leave this machine. */
export function sharingOf(consent: Consent, session: string, project: string | undefined): SharedWith | undefined {
  const own = consent.sessions.get(session)
  if (own !== undefined) return own === 'off' ? undefined : own
  if (project === undefined) return undefined
  let best: { readonly length: number; readonly shared: SharedWith } | undefined
  for (const [path, shared] of consent.projects)
    if (
      (project === path || project.startsWith(`${path.replace(/[/\\]$/, '')}/`) || project.startsWith(`${path}\\`)) &&
      path.length > (best?.length ?? -1)
    )
      best = { length: path.length, shared }
  return best?.shared
}

/** What the server has of a session, so that unchanged ones are not read again. */
export interface SentSession {
  readonly key: string
  /** Of the local index. */
  readonly epoch: string
  readonly revision: number
  readonly shared: string
  readonly stored: number
}

export function readSent(directory: string): Map<string, SentSession> {
  const fields = readJsonFile(sentPath(directory)) ?? {}
  return new Map(Object.entries(fields) as [string, SentSession][])
}

/** Losing it costs time only: the server knows what it has. */
export const saveSent = (directory: string, sent: ReadonlyMap<string, SentSession>): void =>
  replaceOwnFile(sentPath(directory), `${JSON.stringify(Object.fromEntries(sent))}\n`)

function readJsonFile(path: string): ReturnType<typeof fieldsOf> {
  if (!isFile(path)) return undefined
  try {
    return fieldsOf(JSON.parse(readRegularFile(path).toString()))
  } catch {
    throw new AppError(
      'unusable_data',
      `${path} is damaged. Remove it, and run fumi team join again.`,
      `${path} が壊れています。取り除いてから、もう一度 fumi team join を実行してください。`,
    )
  }
}
