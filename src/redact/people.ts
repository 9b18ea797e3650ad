/** Finds text that identifies people: e-mail addresses, users in paths of home directories, known user names. */
import type { RedactionSpan } from './find/span.ts'

export interface People {
  /** User names, also found as words outside of paths. */
  readonly users: readonly string[]
  /** A home directory that cannot be recognized by its form. */
  readonly home?: string
  /** Leaves people as they are, and redacts secrets only. */
  readonly areKept?: true
}

/** For what stays with the same user. */
export const KEEP_PEOPLE: People = { users: [], areKept: true }

/** The user of this machine. */
export function peopleOnMachine({ home, variables: { USER, USERNAME } }: MachineUser): People {
  const users = [USER, USERNAME].flatMap((name) => (name && name !== 'root' ? name : []))
  return { users, home }
}

interface MachineUser {
  readonly home: string
  readonly variables: { readonly [name: string]: string | undefined }
}

/** Our placeholder for a user: `user-1`. */
const USER_PLACEHOLDER = /^user-\d+$/
/** Folders next to home directories that belong to no user, and words that stand for any user. */
const GENERIC_NAMES = new Set([
  'shared',
  'public',
  'default',
  'all users',
  'linuxbrew',
  'user',
  'username',
  'root',
  'you',
  'me',
])
/** Words too common to be treated as names. */
const COMMON_WORDS = new Set([
  ...['admin', 'administrator', 'app', 'build', 'code', 'codespace', 'dev', 'developer', 'docker', 'ec2-user', 'git'],
  ...['home', 'jenkins', 'node', 'runner', 'sandbox', 'test', 'ubuntu', 'vscode', 'work', 'www-data'],
])
const MIN_WORD_LENGTH = 3

const isPersonalName = (name: string): boolean => !USER_PLACEHOLDER.test(name) && !GENERIC_NAMES.has(name.toLowerCase())

/** Names that are distinctive enough to search for as words. */
export const searchableNames = (names: Iterable<string>): readonly string[] =>
  [...new Set(names)].filter(
    (name) => name.length >= MIN_WORD_LENGTH && isPersonalName(name) && !COMMON_WORDS.has(name.toLowerCase()),
  )

/**
 * A name that begins in ASCII ends at the first character outside ASCII, because many scripts do not put a space after
 * it.
 */
const USER_NAME = String.raw`(?:[A-Za-z0-9_][A-Za-z0-9._-]*|[\p{L}_][\p{L}\p{N}._-]*)`
const HOME_PATH = new RegExp(
  String.raw`((?:(?:\/|%2F)(?:home|Users)|\b[A-Za-z]:(?:\\{1,4}|\/)Users)(?:\/|%2F|\\{1,4}))(${USER_NAME}(?:(?: ${USER_NAME}){1,2}(?=[\\/]))?)`,
  'gu',
)
/** An escape sequence before the address is part of the surrounding text. */
const EMAIL =
  /(?:(\\[nrtbf])|(?<![A-Za-z0-9._%+-]|:\/\/))([A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24})/g
/** File names of images, names of systemd units, and the user of a repository's address look like addresses. */
const NOT_EMAIL = /^git@|@\dx\.\w+$|\.(?:service|socket|timer|target|mount|slice)$/i

/** User names in the paths of a text. */
export function findUsersInPaths(text: string): readonly string[] {
  return findHomes(text).map(({ start, end }) => text.slice(start, end))
}

export function findPeople(
  text: string,
  words: RegExp | undefined,
  home: string | undefined,
): readonly RedactionSpan[] {
  const spans: RedactionSpan[] = []
  if (text.includes('@')) addEmails(text, spans)
  if (/[/\\]|%2F/.test(text)) spans.push(...findHomes(text))
  if (words) for (const { 0: name, index } of text.matchAll(words)) spans.push(toSpan(index, name, 'user'))
  if (home !== undefined)
    for (let at = text.indexOf(home); at >= 0; at = text.indexOf(home, at + home.length))
      if (!/[\p{L}\p{N}_.-]/u.test(text[at + home.length] ?? '')) spans.push(toSpan(at, home, 'home'))
  return spans
}

function addEmails(text: string, spans: RedactionSpan[]): void {
  for (const { 1: before = '', 2: address = '', index } of text.matchAll(EMAIL))
    if (!NOT_EMAIL.test(address)) spans.push(toSpan(index + before.length, address, 'email'))
}

function findHomes(text: string): readonly RedactionSpan[] {
  const spans: RedactionSpan[] = []
  for (const { 1: before = '', 2: found = '', index } of text.matchAll(HOME_PATH)) {
    const name = found.replace(/[.-]+$/, '')
    if (isPersonalName(name)) spans.push(toSpan(index + before.length, name, 'user'))
  }
  return spans
}

const toSpan = (start: number, text: string, kind: string): RedactionSpan => ({ start, end: start + text.length, kind })

/** A pattern that matches any of the words, but not inside a longer word. Undefined without words. */
export function wordsPattern(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined
  const longestFirst = [...words].sort((a, b) => b.length - a.length).map(escapePattern)
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join('|')})(?![\\p{L}\\p{N}])`, 'gu')
}

export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
