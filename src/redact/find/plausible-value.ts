/** Decides whether the value behind a secret's name is one, and not code, prose or a placeholder. */
import { isPlaceholder, isReference, splitWords } from './placeholder.ts'
import type { NameStrength } from './secret-names.ts'

/**
 * How the value is written. `quoted`: in quotes, or a value of JSON. `line`: all of a line after its name, as in
 * configuration files. `flag`: behind an option of a command. `bare`: anywhere else, so it may be code.
 */
export type ValueForm = 'quoted' | 'line' | 'flag' | 'bare' | 'sentence'

const MAX_LENGTH = 8000
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Names of files and sessions. */
const CONTAINS_ID = /(?:^|\W|_)20\d\d-\d\d-\d\d|.[-_.][0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
/** Values of settings, types, and words that follow a name in prose or code. */
const ORDINARY = new Set(
  `true false null none nil undefined yes no on off string str number int integer float double boolean bool object array any unknown never void char varchar
text bytes byte buffer symbol bigint optional required default defaults empty missing invalid valid expired revoked wrong incorrect correct changed updated
reset needed stored saved hashed encrypted plaintext generated rotated provided given used unused sent set unset not never always also already
only once here there below above following same different environment variable secret secrets token password passwords keychain vault stdin prompt
manual automatic auto inherit disabled enabled hidden visible protected sensitive confidential public private internal external static readonly const let
basic bearer digest negotiate anonymous oauth oauth2 jwt hmac rsa ed25519 ecdsa aes sha256 sha512 md5 bcrypt argon2 scrypt base64 base64url base64-encoded base64url-encoded utf8 hex ascii pem der pkcs8 pkcs1 x509
authentication authorization authenticated authorized unauthorized forbidden exception error failure success failed failing mismatch rejected accepted denied granted
autocomplete field input label form column property attribute parameter argument option flag value name values names type types
anything something nothing everything whatever somewhere later soon now then when where while because since until unless
interpolated configured specified documented described supported deprecated recommended mandatory obligatory secure strong weak known unique short long simple complex blank safe unsafe common good bad old new shared own
passphrase fixed changing example sample dummy admin user root guest login mandatory hunter`.split(/\s+/),
)

export function isSecretValue(value: string, strength: NameStrength, form: ValueForm): boolean {
  const { length } = value
  if (length < 4 || length > MAX_LENGTH || ORDINARY.has(value.toLowerCase())) return false
  if (isReference(value)) return false
  if (/\s/.test(value)) return isPassphrase(value, strength, form) && !isPlaceholder(value)
  if (!isPlausible(value, strength, form)) return false
  return !isPlaceholder(value)
}

function isPlausible(value: string, strength: NameStrength, form: ValueForm): boolean {
  if (isCode(value, form)) return false
  if ((strength === 'weak' || strength === 'token') && CONTAINS_ID.test(value)) return false
  if (strength === 'weak')
    return value.length >= 20 && !UUID.test(value) && !/^[0-9a-f]+$/i.test(value) && looksRandom(value)
  if (strength === 'token') return isTokenValue(value)
  if (/^[\d.,:/-]+$/.test(value)) return strength === 'password' && form !== 'bare' && /^\d{5,}$/.test(value)
  if (/^[\p{L}_.,:'’-]+$/u.test(value)) return isWordSecret(value, strength, form)
  if (strength === 'strong') return isStrongValue(value, form)
  // Punctuation around a word is code or prose.
  if (!/\d/.test(value) && /^[^\p{L}]*\p{L}+[^\p{L}]*$/u.test(value))
    return form !== 'bare' && form !== 'sentence' && value.length >= 8
  const hasSign = /\d/.test(value) && /[^\p{L}\d]/u.test(value)
  return value.length >= (form === 'bare' || (form === 'sentence' && !hasSign) ? 6 : 4) && !isVersionLike(value)
}

/** Digits or signs among letters. */
const isMixed = (value: string): boolean => /\p{L}/u.test(value) && /[\d!@#$%^&*+=?~/]/.test(value)
const isVersionLike = (value: string): boolean =>
  /^v?\d+(?:\.\d+)+(?:[-+]\w+)?$|^0x[0-9a-f]{1,8}$/i.test(value) || /^\d+(?:px|em|ms|s|mb|kb|gb|%)$/i.test(value)

function isTokenValue(value: string): boolean {
  if (value.length < 12 || !/\d/.test(value)) return value.length >= 20 && hasMixedCase(value) && !isWordy(value)
  if (UUID.test(value)) return true
  return /^\d+$/.test(value) ? false : looksRandom(value) || (value.length >= 20 && isMixed(value) && !isWordy(value))
}

/** Letters only: a word, a name, or a secret. */
function isWordSecret(value: string, strength: NameStrength, form: ValueForm): boolean {
  if (form === 'bare' || form === 'sentence' || form === 'flag')
    return value.length >= 12 && hasMixedCase(value) && !isWordy(value)
  const words = splitWords(value)
  if (words.some((word) => NAMES_SECRET.test(word))) return false
  if (words.filter((word) => ORDINARY.has(word)).length * 2 >= words.length) return false
  if (hasMixedCase(value) && value.length >= 10 && !isWordy(value)) return true
  if (strength !== 'password' || !/^[a-z]/.test(value) || /[^\x21-\x7e]/.test(value)) return false
  return /[-_.]/.test(value) ? words.length >= 3 && value.length >= 12 && !/[.:,]/.test(value) : value.length >= 6
}

const NAMES_SECRET = /pass|secret|token|^key|cred|auth|login|user|field|input|label|error|prompt|valid/

/** Upper and lower case change often, as in no word or name. */
function hasMixedCase(value: string): boolean {
  const letters = value.replace(/[^A-Za-z]+/g, '')
  let changes = 0
  for (let at = 1; at < letters.length; at++)
    if (isUpper(letters.charAt(at)) !== isUpper(letters.charAt(at - 1))) changes++
  return changes >= Math.max(5, letters.length / 4) && !/^[a-z]*(?:[A-Z][a-z]+)*$/.test(letters)
}

const isUpper = (character: string): boolean => character >= 'A' && character <= 'Z'

/** A name, a path of names, a call, or a type. */
function isCode(value: string, form: ValueForm): boolean {
  if (form === 'quoted' || form === 'flag') return false
  if (/^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(value)) return true
  // An element of a list, or a type with arguments.
  if (/^[A-Za-z_$][\w$.]*\[[\w\s.,:|"'$-]*\],?$/.test(value)) return true
  if (/^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]*)*(?:<.*|\(.*)?[!;,]?$/.test(value))
    return form === 'bare' ? /[.<(:]|->/.test(value) : /[<(]|^[A-Za-z_$]+(?:\.[A-Za-z_$]+)+$/.test(value)
  return form !== 'line' && (/[({[]$|^\W*$|\(\)|=>|\bnull\b/.test(value) || /^[(<[{]/.test(value))
}

/** `chat-2026-01`. */
const IS_DATED = /^[a-z]+(?:[-_][a-z]+)*[-_]20\d\d[-_]\d\d(?:[-_]\d\d)?$/

function isStrongValue(value: string, form: ValueForm): boolean {
  if (value.length < 8 || isVersionLike(value) || IS_DATED.test(value)) return false
  if (looksRandom(value)) return true
  if (value.length >= 32 && entropy(value) >= 3.8 && /\d/.test(value)) return true
  const isWritten = form === 'quoted' || form === 'line' || form === 'flag'
  return isMixed(value) && (!isWordy(value) || (isWritten && /\d/.test(value) && !/[a-z][A-Z]/.test(value)))
}

function isPassphrase(value: string, strength: NameStrength, form: ValueForm): boolean {
  if (form !== 'quoted' && form !== 'line') return false
  const words = value.trim().split(/\s+/)
  if (strength === 'strong' && words.length >= 12 && words.length <= 24)
    return words.every((word) => /^[a-z]{3,8}$/.test(word))
  return (
    strength === 'password' &&
    words.length <= 8 &&
    /\d/.test(value) &&
    /[!@#$%^&*+=?~]/.test(value) &&
    !/[.,:;?]\s/.test(value)
  )
}

/** Whether a text has no words in it: digits in several places, or changing case. */
export function looksRandom(value: string): boolean {
  if (value.length < 16) return false
  const digits = value.match(/\d+/g)?.length ?? 0
  const letters = /[A-Za-z]/.test(value)
  if (digits === 0) return value.length >= 20 && hasMixedCase(value) && !isWordy(value)
  if (!letters || isWordy(value)) return false
  return entropy(value) >= (value.length >= 32 ? 3 : 2.9) && (digits >= 3 || hasMixedCase(value))
}

/** Most of it is words: names of files, classes, packages. */
export function isWordy(value: string): boolean {
  const words = value.match(/[A-Z]?[a-z]{3,}|[A-Z]{5,}/g) ?? []
  let inWords = 0
  for (const word of words)
    if (word.length >= 4 && /[aeiouy]/i.test(word) && !/[^aeiouy]{6}/i.test(word)) inWords += word.length
  return inWords > value.length * (/\d/.test(value) ? 0.65 : 0.5)
}

/** Bits per character. */
export function entropy(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let sum = 0
  for (const count of counts.values()) sum -= (count / value.length) * Math.log2(count / value.length)
  return sum
}

/** `AAAAAAAAAAAAAAAA`, and identifiers in which the body of a token is words. */
export const hasFewDistinct = (body: string): boolean =>
  body.length >= 16 && (new Set(body).size < 6 || (body.length <= 60 && !/\d/.test(body) && isWordy(body)))
