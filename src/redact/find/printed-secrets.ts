/** Finds secrets that a command prints: alone in the line below it, as in a copied terminal. */
import { isSecretValue } from './plausible-value.ts'
import { strengthOfName } from './secret-names.ts'
import type { RedactionSpan } from './span.ts'

const NAMED = '[^\\n|;]*(?:secret|passw|token|credential|api[-_]?key)[^\\n|;]*'

/** The beginning of a command, and what its line must match from there. */
const COMMANDS: readonly (readonly [start: string, line: string])[] = [
  ['vault kv get', 'vault kv get[^\\n]* -field[^\\n|;]*'],
  ['vault read', 'vault read[^\\n]* -field[^\\n|;]*'],
  ['op read', 'op read [^\\n|;]+'],
  ['pass show', 'pass show [^\\n|;]+'],
  ['bw get password', 'bw get password [^\\n|;]+'],
  ['terraform output', `terraform output${NAMED}`],
  ['tofu output', `tofu output${NAMED}`],
  ['get-secret-value', 'get-secret-value[^\\n|;]*'],
  ['get-parameter', 'get-parameters? [^\\n]*--with-decryption[^\\n|;]*'],
  ['keyvault secret show', 'keyvault secret show[^\\n|;]*'],
  ['secrets versions access', 'secrets versions access[^\\n|;]*'],
  ['doppler secrets get', 'doppler secrets get[^\\n|;]*'],
  ['print-access-token', 'print-access-token[^\\n|;]*'],
  ['print-identity-token', 'print-identity-token[^\\n|;]*'],
  ['get-access-token', 'get-access-token[^\\n|;]*'],
  ['find-generic-password', 'find-generic-password[^\\n]* -w[^\\n|;]*'],
  ['find-internet-password', 'find-internet-password[^\\n]* -w[^\\n|;]*'],
  ['get-login-password', 'get-login-password[^\\n|]*'],
  ['gh auth token', 'gh auth token[^\\n|;]*'],
  ['heroku auth:token', 'heroku auth:token[^\\n|;]*'],
  ['kubectl create token', 'kubectl create token [^\\n|;]+'],
  ['kubectl get secret', 'kubectl get secrets? [^\\n]*(?:base64 (?:-d|-D|--decode)|base64decode)[^\\n]*'],
  ['aws configure get', `aws configure get ${NAMED}`],
  ['git credential fill', 'git credential fill[^\\n|;]*'],
]

const PRINTS = COMMANDS.map(([, line]) => line).join('|')
const OF_VARIABLE = '(?:printenv[ \\t]+|echo[ \\t]+["\']?\\$\\{?)(\\w{3,80})\\}?["\']?'
const OF_FILE = 'cat[ \\t]+["\']?(?:[^\\s"\'|;&]*[/\\\\])?([\\w.-]{3,80})["\']?'

/** Whether a command may print a secret, which the text of its output does not show. */
export const mayPrintSecret = (command: string): boolean => ANY_COMMAND.test(command)
const ANY_COMMAND = new RegExp(`(?:${PRINTS}|${OF_VARIABLE}|${OF_FILE})[ \\t]*$`)

const BELOW = '[ \\t]*\\r?\\n[ \\t]*["\']?([^\\s"\']{8,4000})["\']?[ \\t]*(?=\\r?\\n|$)'
const VARIABLE = new RegExp(OF_VARIABLE + BELOW, 'y')
const FILE = new RegExp(OF_FILE + BELOW, 'y')
const FILE_NAME =
  /(?:^|[._-])(?:master|secret|private|api|access|auth|encryption|deploy)[._-]?key\b|token|passw|secret/i
const NOT_A_SECRET_FILE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|rb|php|md|html|css|json|ya?ml|toml|lock|sh|sql|log)$/i

export const PRINTED_TRIGGERS: readonly (readonly [
  start: string,
  handler: (text: string, at: number, spans: RedactionSpan[]) => void,
])[] = [
  ...COMMANDS.map(([start, line]) => {
    const form = new RegExp(`${line}${BELOW}`, 'y')
    return [start, (text: string, at: number, spans: RedactionSpan[]) => findBelow(form, text, at, spans, 1)] as const
  }),
  ['printenv ', findPrintedVariable],
  ['echo $', findPrintedVariable],
  ['echo "$', findPrintedVariable],
  ['cat ', findPrintedFile],
]

function findPrintedVariable(text: string, at: number, spans: RedactionSpan[]): void {
  VARIABLE.lastIndex = at
  const strength = strengthOfName(VARIABLE.exec(text)?.[1] ?? '')
  if (strength !== undefined && strength !== 'weak') findBelow(VARIABLE, text, at, spans, 2)
}

function findPrintedFile(text: string, at: number, spans: RedactionSpan[]): void {
  FILE.lastIndex = at
  const name = FILE.exec(text)?.[1] ?? ''
  if (FILE_NAME.test(name) && !NOT_A_SECRET_FILE.test(name)) findBelow(FILE, text, at, spans, 2)
}

function findBelow(form: RegExp, text: string, at: number, spans: RedactionSpan[], group: number): void {
  form.lastIndex = at
  const found = form.exec(text)
  const value = found?.[group]
  if (!found || value === undefined || !isSecretValue(value, 'password', 'line')) return
  // Code, or a message instead of the secret.
  if (/\w\(|^[.)}\]]|[({[]$/.test(value)) return
  if (!/\d|[a-z][A-Z].*[a-z][A-Z]/.test(value) && /^[\w:.-]*$/.test(value)) return
  const start = at + found[0].lastIndexOf(value)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}
