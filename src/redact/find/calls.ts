/** Finds secrets that stand in an argument of a call whose name says what it does: `jwt.sign(x, 'secret')`, `login('mika', 'password')`. */
import { isSecretValue, looksRandom } from './plausible-value.ts'
import type { RedactionSpan } from './span.ts'

const QUOTED = String.raw`[bBrRfFuUN@]{0,2}\\{0,7}(["'\x60])((?:(?!\1)[^\\\n]){4,400})\\{0,7}\1`
/** An argument before it, which may be a call. */
const OTHER = String.raw`[^()\n]{0,120}(?:\([^()\n]{0,80}\))?[^()\n,]{0,40},\s*`
const AFTER = String.raw`(?=\s*[,)\]])`

const pattern = (source: string): RegExp => new RegExp(source.replace('QUOTED', QUOTED), 'iy')

/** The first three letters or more of a call, and its form. The second group is the secret. */
const CALLS: ReadonlyMap<string, RegExp> = new Map([
  ['jwt.', pattern(String.raw`jwt\.(?:sign|verify|encode|decode)\(${OTHER}QUOTED${AFTER}`)],
  ['createhmac', pattern(String.raw`createHmac\([^,()\n]{1,40},\s*QUOTED${AFTER}`)],
  ['hmac.new', pattern(String.raw`hmac\.new\(\s*QUOTED${AFTER}`)],
  ['pgp_sym', pattern(String.raw`pgp_sym_(?:en|de)crypt(?:_bytea)?\(${OTHER}QUOTED${AFTER}`)],
  ['login(', pattern(String.raw`login\(\s*["'][^"'\n]{1,80}["'],\s*QUOTED${AFTER}`)],
  [
    'signin',
    pattern(String.raw`sign_?in(?:WithEmailAndPassword)?\((?:\w+,\s*)?\s*["'][^"'\n]{1,80}["'],\s*QUOTED${AFTER}`),
  ],
  ['getconn', pattern(String.raw`getConnection\([^()\n]{1,200},\s*["'][^"'\n]{1,80}["'],\s*QUOTED\s*\)`)],
  ['basicauth', pattern(String.raw`BasicAuth\(\s*["'][^"'\n]{1,80}["'],\s*QUOTED${AFTER}`)],
  ['basic_auth', pattern(String.raw`basic_auth\(\s*["'][^"'\n]{1,80}["'],\s*(?:Some\()?QUOTED`)],
  ['networkcred', pattern(String.raw`NetworkCredential\(\s*["'][^"'\n]{1,80}["'],\s*QUOTED${AFTER}`)],
  ['usernamepassword', pattern(String.raw`UsernamePassword\w{0,40}\(\s*["'][^"'\n]{1,80}["'],\s*QUOTED`)],
  ['auth=(', pattern(String.raw`auth=\(\s*["'][^"'\n]{1,80}["'],\s*QUOTED\s*\)`)],
  ['auth(', pattern(String.raw`auth\(\s*["'][^"'\n]{1,80}["'],\s*QUOTED\s*\)`)],
  ['wifi.begin', pattern(String.raw`WiFi\.begin\(\s*["'][^"'\n]{1,64}["'],\s*QUOTED\s*[,)]`)],
  ...['create_user', 'create_superuser', 'createuser'].map(
    (start) =>
      [
        start,
        pattern(
          String.raw`create_?(?:super)?user\(\s*["'][^"'\n]{1,80}["'],\s*(?:["'][^"'\n]{0,80}["'],\s*)?QUOTED\s*\)`,
        ),
      ] as const,
  ),
  ...['bcrypt.', 'hashpw(', 'hash_pass', 'hashpass', 'generate_pass', 'password_hash', 'argon2.'].map(
    (start) =>
      [
        start,
        pattern(
          String.raw`(?:(?:bcrypt|argon2)\.\w{0,20}hash\w{0,10}|hashpw|hash_?password\w{0,10}|generate_password_hash|password_hash)\(\s*QUOTED\s*[,)]`,
        ),
      ] as const,
  ),
  ...['wallet(', 'privatekeyto', 'privatekey(', 'from_key(', 'fromprivatekey('].map(
    (start) => [start, /\w{0,40}\(\s*(["'`])((?:0x)?[0-9a-fA-F]{64})\1/iy] as const,
  ),
  [
    'expect',
    /expect\s+(?:-\w+\s+)?["{*][^"\n}]{0,40}(?:assword|assphrase|asscode)[^"\n}]{0,20}["}]\s*[{;]?\s*send\s+(?:--\s+)?(")([^"\\\n]{4,200})(?:\\[rn])*"/iy,
  ],
  ['convertto-s', pattern(String.raw`ConvertTo-SecureString\s+(?:-String\s+)?QUOTED`)],
])

const SERVICES =
  'stripe algolia deepgram wandb assemblyai mistral cohere datadog pusher pubnub twilio sendgrid cloudinary mapquest openweather serpapi mixpanel segment rollbar bugsnag postmark elevenlabs tavily exa firecrawl stability replicate together pinecone weaviate qdrant voyage huggingface openai anthropic'
/** A client gets its key: `DeepgramClient("…")`, `wandb.login(key="…")`. */
const SERVICE_CALL = /[a-z_.]{3,40}\(([^()\n]{0,200})/iy
const ARGUMENT = /(["'`])([A-Za-z0-9_-]{20,200})\1/g
const UUID_OR_HEX = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{32,128})$/i

export const CALL_TRIGGERS: ReadonlyMap<string, (text: string, at: number, spans: RedactionSpan[]) => void> = new Map([
  ...[...CALLS].map(
    ([start, form]) =>
      [start, (text: string, at: number, spans: RedactionSpan[]) => findArgument(text, at, form, spans)] as const,
  ),
  ...SERVICES.split(' ').map((service) => [service, findServiceKey] as const),
])

function findArgument(text: string, at: number, form: RegExp, spans: RedactionSpan[]): void {
  form.lastIndex = at
  const found = form.exec(text)
  const value = found?.[2]
  if (!found || value === undefined || !isSecretValue(value, 'password', 'quoted')) return
  const start = at + found[0].lastIndexOf(value)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}

function findServiceKey(text: string, at: number, spans: RedactionSpan[]): void {
  SERVICE_CALL.lastIndex = at
  const call = SERVICE_CALL.exec(text)
  const inner = call?.[1]
  if (!call || inner === undefined) return
  const offset = at + call[0].length - inner.length
  for (const { 0: all, 2: value = '', index } of inner.matchAll(ARGUMENT)) {
    if (!UUID_OR_HEX.test(value) && !(looksRandom(value) && /\d/.test(value))) continue
    const start = offset + index + all.indexOf(value)
    spans.push({ start, end: start + value.length, kind: 'entropy' })
  }
}
