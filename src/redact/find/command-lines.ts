/** Finds secrets in options of commands that do not name them: `curl -u a:b`, `mysql -pX`, `redis-cli -a X`. */
import { isPlaceholder, isReference } from './placeholder.ts'
import type { RedactionSpan } from './span.ts'

/** A quoted or unquoted argument: the secret is the last group that matched. */
const ARGUMENT = `(?:'([^'\\n]{1,400})'|\\\\?"([^"\\\\\\n]{1,400})\\\\?"|([^\\s'"\`\\\\;|&<>]{1,400}))`
const option = (names: string, gap = '(?:\\s+|=)'): RegExp => new RegExp(`\\s(?:${names})${gap}${ARGUMENT}`, 'g')

interface CommandForm {
  readonly program: RegExp
  readonly secret: RegExp
  /** The argument contains more than the secret, which follows this sign. */
  readonly behind?: string
}

const form = (program: string, secret: RegExp, behind?: string): CommandForm => ({
  program: new RegExp(`(?:${program})(?:\\.exe)?(?=\\s|["'],)`, 'y'),
  secret,
  ...(behind !== undefined && { behind }),
})

const FORMS: readonly CommandForm[] = [
  form('curl|wget|http|https|httpie', option('-[a-zA-Z]*u|--user|--proxy-user|-U|-a|--auth', '(?:\\s*|=)'), ':'),
  form('mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mycli', option('-p', '')),
  form(
    'sshpass|cqlsh|cypher-shell|mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|hydra|evil-winrm|twine',
    option('-p'),
  ),
  form('sshpass', option('-p', '')),
  form(
    'docker login|podman login|buildah login|skopeo login|helm registry login|oras login|nerdctl login|crane auth login|az login|cf login|oc login',
    option('-p'),
  ),
  form('redis-cli|valkey-cli|keydb-cli', option('-a|--pass')),
  form('ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldapdelete|ldappasswd', option('-w|-s', '\\s*')),
  form('sqlcmd|bcp|osql|isql|impala-shell', option('-P', '\\s*')),
  form('zip|unzip|zipcloak', option('-P', '\\s*')),
  form('7z|7za|7zz|rar|unrar', option('-p|-hp', '')),
  form('smbclient|rpcclient|smbget|net rpc', option('-U'), '%'),
  form('xfreerdp|wfreerdp|rdesktop', option('/p:|-p', '\\s*')),
  form('lftp', option('-u'), ','),
  form('openssl', option('-passin|-passout|-pass|-k|-K', '\\s+(?:pass:)?')),
  form('ssh-keygen', option('-N|-P')),
  form('htpasswd', new RegExp(`\\s-(?=[a-zA-Z]*n)(?=[a-zA-Z]*b)[a-zA-Z]+\\s+\\S+\\s+${ARGUMENT}`, 'g')),
  form('htpasswd', new RegExp(`\\s-[a-zA-Z]*b[a-zA-Z]*\\s+\\S+\\s+\\S+\\s+${ARGUMENT}`, 'g')),
  form(
    'vault login|cargo login|snyk auth|pulumi login|railway login|netlify login|wandb login|deepgram login|ngrok authtoken|ngrok config add-authtoken|ngrok config add-api-key|hf auth login|sentry-cli login|stripe login|flyctl auth token',
    new RegExp(`\\s+(?:--relogin\\s+)?(?:token=)?${ARGUMENT}`, 'g'),
  ),
  form('psexec|psexec64|plink|pscp|winrs|wmic', option('-pw?|/p', '(?:\\s+|:)')),
  form('security unlock-keychain|security import|security set-keychain-password', option('-p|-P')),
  form('security add-generic-password|security add-internet-password', option('-w')),
  form('aws ssm put-parameter', new RegExp(`\\s(?=[^\\n]*SecureString)[^\\n]{0,400}?--value[ =]${ARGUMENT}`, 'g')),
  form('az keyvault secret set|infisical secrets set', option('--value')),
  form('dotnet user-secrets set', new RegExp(`\\s+\\S+\\s+${ARGUMENT}`, 'g')),
  form('mosquitto_pub|mosquitto_sub|ipmitool|snmpwalk', option('-P|-A|-X')),
  form('socks5|socks4|http', new RegExp(`\\s+[\\d.]{7,15}\\s+\\d{2,5}\\s+\\S+\\s+${ARGUMENT}`, 'g')),
  form('rclone obscure|snmp-server community', new RegExp(`^\\s+${ARGUMENT}`, 'g')),
  form('pulumi config set', new RegExp(`\\s+(?:-\\S+\\s+)*?--secret\\s+(?:-\\S+\\s+)*\\S+\\s+${ARGUMENT}`, 'g')),
  form('rootpw', new RegExp(`^\\s+(?:--\\w+\\s+)+${ARGUMENT}`, 'g')),
  form('d-i passwd/root-password|d-i passwd/user-password', new RegExp(`(?:-again)?\\s+password\\s+${ARGUMENT}`, 'g')),
  form('doctl auth init', option('-t|--access-token')),
  form('rabbitmqctl (?:add_user|change_password)', new RegExp(`\\s+\\S+\\s+${ARGUMENT}`, 'g')),
  form('neo4j-admin (?:dbms )?set-initial-password|wpa_passphrase \\S+', new RegExp(`\\s+${ARGUMENT}`, 'g')),
  form('mc (?:alias set|config host add) \\S+ \\S+ \\S+', new RegExp(`\\s+${ARGUMENT}`, 'g')),
  form('sqlplus', /\s[\w-]+\/([^\s@'"]{3,100})@/g),
  form('kubectl create secret|kubectl -n \\S+ create secret', option('--from-literal'), '='),
  form(
    'fly(?:ctl)? secrets set|doppler secrets set|heroku config:set|netlify env:set|supabase secrets set|eas secret:create',
    new RegExp(`\\s[A-Za-z_][\\w.-]*(?:=|\\s+)${ARGUMENT}`, 'g'),
  ),
  form('gh secret set|vercel secrets add', option('-b|--body')),
  form('net user \\S+|net use \\S+(?: \\S+)?', new RegExp(`\\s+(?!/|\\\\)${ARGUMENT}`, 'g')),
  form('useradd|usermod', option('-p')),
  form('echo|printf', /\s+(?:-\w+\s+)?["']?[\w.-]{1,40}:([^\s"'|]{3,200})["']?\s*\|\s*(?:sudo\s+)?chpasswd/g),
  form(
    'echo|printf',
    new RegExp(
      `\\s+(?:-\\w+\\s+)?${ARGUMENT}\\s*\\|\\s*(?:sudo\\s+-\\w*S|docker login|podman login|gh auth login|passwd|openssl|vault|kinit|cryptsetup|gpg|base64 \\||wrangler secret|vercel env)`,
      'g',
    ),
  ),
  form(
    'kinit|vncpasswd|passwd|cryptsetup|sudo|docker login|podman login|gh auth login|wrangler secret',
    new RegExp(`<<<\\s*${ARGUMENT}`, 'g'),
  ),
  form('chpasswd', new RegExp(`<<<\\s*${ARGUMENT}`, 'g'), ':'),
  form('mysqladmin', new RegExp(`\\spassword\\s+${ARGUMENT}`, 'g')),
  form('bw login|bw unlock', new RegExp(`\\s+(?:\\S+@\\S+\\s+)?${ARGUMENT}`, 'g')),
  form('ACL SETUSER', /\s>([^\s"'>]{3,200})/g),
  form('AUTH', /^\s+(?:default\s+)?"?(?=[\w!@#$%^&*?~+=-]*\d)([\w!@#$%^&*?~+=-]{6,200})"?\s*$/g),
  form('mysql|psql|mongo', /IDENTIFIED BY '([^']+)'/g),
]

/** First letters of every program. */
export const COMMAND_TRIGGERS: ReadonlyMap<string, readonly CommandForm[]> = collectTriggers()

function collectTriggers(): ReadonlyMap<string, readonly CommandForm[]> {
  const triggers = new Map<string, CommandForm[]>()
  for (const one of FORMS)
    for (const name of /^\(\?:(.*)\)\(\?:\\\.exe/.exec(one.program.source)?.[1]?.split('|') ?? []) {
      const letters = /^[\w ./:-]+/.exec(name)?.[0].toLowerCase() ?? ''
      const start = letters.length < 3 ? `${letters} ` : letters
      if (start.length < 3) continue
      const forms = triggers.get(start) ?? []
      if (!forms.includes(one)) forms.push(one)
      triggers.set(start, forms)
    }
  return triggers
}

const MAX_COMMAND = 600

export function findInCommand(text: string, at: number, forms: readonly CommandForm[], spans: RedactionSpan[]): void {
  if (/[\w-]/.test(text[at - 1] ?? '') && !(text[at - 2] === '\\' && /[nrt]/.test(text[at - 1] ?? ''))) return
  for (const { program, secret, behind } of forms) {
    program.lastIndex = at
    const start = at + (program.exec(text)?.[0].length ?? -1)
    if (start < at) continue
    const line = lineFrom(text, start)
    for (const found of line.matchAll(secret)) {
      const written = found.slice(1).findLast((group) => group !== undefined)
      if (written === undefined) continue
      const skip = behind === undefined ? 0 : written.indexOf(behind) + behind.length
      const value = written.slice(skip)
      if ((behind !== undefined && skip < behind.length) || !isArgument(value)) continue
      const from = start + (found.index ?? 0) + found[0].lastIndexOf(written) + skip
      spans.push({ start: from, end: from + value.length, kind: 'setting' })
    }
  }
}

/** Up to the end of the line; a backslash continues it. */
function lineFrom(text: string, start: number): string {
  let end = text.indexOf('\n', start)
  while (end > 0 && text[end - 1] === '\\' && end - start < MAX_COMMAND) end = text.indexOf('\n', end + 1)
  return text.slice(start, Math.min(end < 0 ? text.length : end, start + MAX_COMMAND))
}

const isArgument = (value: string): boolean =>
  value.length >= 3 &&
  !value.startsWith('-') &&
  !isReference(value) &&
  !isPlaceholder(value) &&
  !/^(?:stdin|string|file|port|\d{1,5}|https?:.*)$/.test(value)
