/** Secrets in what programs print, record and list: terminals, browsers, tables, scripts. */
import type { ContextualKind } from './contextual-kinds.ts'
import type { Random } from './random.ts'

const key = (r: Random): string => r.pick([r.alnum(40), r.base64url(32)])
/** For places where some signs have a meaning. */
const plainPassword = (r: Random): string => `${r.word(2)}${r.digits(3)}${r.letters(4)}`

export const RECORDED_KINDS: readonly ContextualKind[] = [
  {
    name: 'output of a command that prints a secret',
    make: plainPassword,
    surround: [
      (s) => `$ vault kv get -field=password secret/db\n${s}\n`,
      (s) => `$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n${s}`,
      (s) => `$ terraform output -raw db_password\n${s}\n$`,
      (s) => `% op read op://team/db/password\n${s}\n`,
      (s) => `$ aws secretsmanager get-secret-value --secret-id db --query SecretString --output text\n${s}`,
      (s) => `$ echo $DB_PASSWORD\n${s}\n`,
      (s) => `$ cat config/master.key\n${s}`,
    ],
  },
  {
    name: 'cookie as browsers list it',
    make: key,
    surround: [
      (s) => `{"name":"session","value":"${s}","domain":".example.org","path":"/","httpOnly":true,"secure":true}`,
      (s) => `{ "name": "auth_token", "value": "${s}", "path": "/", "expires": -1, "httpOnly": false }`,
    ],
  },
  {
    name: 'value before its name',
    make: key,
    surround: [(s) => `{"value":"${s}","name":"API_SECRET_KEY"}`, (s) => `{"value": "${s}", "key": "SERVICE_TOKEN"}`],
  },
  {
    name: 'user and password without a name',
    make: (r) => `${plainPassword(r)}!`,
    surround: [
      (s) => `Credentials: mika / ${s}`,
      (s) => `Test account: qa@example.org / ${s}`,
      (s) => `chpasswd:\n  list: |\n    mika:${s}\n`,
    ],
  },
  {
    name: 'generated password',
    make: plainPassword,
    surround: [
      (s) => `[Note] A temporary password is generated for root@localhost: ${s}`,
      (s) => `Password for the [elastic] user successfully reset.\nNew value: ${s}\n`,
      (s) => `The database password was set to "${s}".`,
    ],
  },
  {
    name: 'script that types a password',
    make: plainPassword,
    surround: [(s) => `expect "password:" { send "${s}\\r" }`, (s) => `expect "Password: "\nsend "${s}\\n"`],
  },
  {
    name: 'password in a table or answer in Japanese',
    make: plainPassword,
    surround: [
      (s) => `| ユーザー | パスワード |\n|---|---|\n| mika | ${s} |\n`,
      (s) => `サーバー,初期パスワード\ndb1,${s}\n`,
      (s) => `管理画面のパスワードなんですが、${s} でお願いします`,
    ],
  },
  {
    name: 'SAML response',
    make: (r) => Buffer.from(`<samlp:Response ID="${r.alnum(200)}"`).toString('base64'),
    surround: [(s) => `SAMLResponse=${s}&RelayState=x`, (s) => `<input name="SAMLResponse" value="${s}">`],
  },
  {
    name: 'key of a wallet in code',
    make: (r) => `0x${r.hex(64)}`,
    surround: [
      (s) => `const wallet = new ethers.Wallet("${s}", provider)`,
      (s) => `account = privateKeyToAccount('${s}')`,
      (s) => `acct = w3.eth.account.from_key("${s}")`,
    ],
  },
  {
    name: 'installer and stores of keys',
    make: plainPassword,
    surround: [
      (s) => `keytool -importkeystore -srckeystore a -srcstorepass ${s} -destkeystore b`,
      (s) => `rootpw --plaintext ${s}`,
      (s) => `pulumi config set --secret dbPassword ${s}`,
      (s) => `<AdministratorPassword><Value>${s}</Value></AdministratorPassword>`,
    ],
  },
  {
    name: 'key alone below a sentence',
    make: (r) => `${r.alnum(38)}7Qz`,
    surround: [(s) => `here is the token\n${s}\nplease use it`, (s) => `Use this API key:\n\n    ${s}\n`],
  },
]
