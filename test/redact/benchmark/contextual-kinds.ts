/** Secrets without a format of their own, which their context gives away. */
import type { Random } from './random.ts'

export interface ContextualKind {
  readonly name: string
  readonly make: (random: Random) => string
  readonly surround: readonly ((secret: string, random: Random) => string)[]
}

const kind = (name: string, make: ContextualKind['make'], ...surround: ContextualKind['surround']): ContextualKind => ({
  name,
  make,
  surround,
})

const password = (r: Random): string => r.password()
const key = (r: Random): string => r.pick([r.hex(32), r.alnum(40), r.base64url(32), r.uuid()])
const base64 = (text: string): string => Buffer.from(text).toString('base64')
/** For places where some signs have a meaning. */
const plainPassword = (r: Random): string => `${r.word(2)}${r.digits(3)}${r.letters(4)}`

export const CONTEXTUAL_KINDS: readonly ContextualKind[] = [
  kind(
    'setting in .env',
    password,
    (s) => `PORT=3000\nDB_PASSWORD=${s}\nDEBUG=1\n`,
    (s) => `DJANGO_SECRET_KEY="${s}"`,
    (s) => `export SMTP_PASS='${s}'`,
    (s) => `REDIS_PASSWORD=${s}`,
  ),
  kind(
    'password in JSON',
    password,
    (s) => JSON.stringify({ host: 'db', user: 'app', password: s }),
    (s) => JSON.stringify({ smtp: { auth: { user: 'a', pass: s } } }, null, 2),
    (s) => `{"dbPassword":"${s}",`,
    (s) => `got {\\"password\\":\\"${s}\\"} back`,
  ),
  kind(
    'key in JSON',
    key,
    (s) => JSON.stringify({ client_secret: s }),
    (s) => JSON.stringify({ services: [{ apiKey: s }] }),
    (s) => JSON.stringify({ config: JSON.stringify({ access_token: s }) }),
  ),
  kind(
    'password in YAML',
    password,
    (s) => `database:\n  user: app\n  password: ${s}\n  port: 5432\n`,
    (s) => `spring:\n  datasource:\n    password: "${s}"\n`,
    (s) => `- name: DB_PASSWORD\n  value: ${s}\n`,
  ),
  kind(
    'password in TOML',
    password,
    (s) => `[db]\nuser = "app"\npassword = "${s}"\n`,
    (s) => `api_secret = '${s}'`,
  ),
  kind(
    'password in INI',
    password,
    (s) => `[mail]\nuser=app\npassword=${s}\n`,
    (s) => `[client]\npassword = ${s}\n`,
  ),
  kind(
    'Java properties',
    password,
    (s) => `spring.datasource.password=${s}\n`,
    (s) => `mail.smtp.password: ${s}\n`,
  ),
  kind(
    'element in XML',
    plainPassword,
    (s) => `<server><id>r</id><password>${s}</password></server>`,
    (s) => `<add key="ApiPassword" value="${s}" />`,
  ),
  kind(
    'AWS secret key',
    (r) => r.base64(40),
    (s) => `aws_secret_access_key = ${s}`,
    (s) => JSON.stringify({ SecretAccessKey: s }),
    (s) => `export AWS_SECRET_ACCESS_KEY=${s}`,
  ),
  kind(
    'AWS session token',
    (r) => r.base64(200),
    (s) => `aws_session_token = ${s}`,
    (s) => `AWS_SESSION_TOKEN=${s}`,
  ),
  kind(
    'bearer token',
    (r) => r.pick([r.alnum(40), r.hex(32), r.base64url(60)]),
    (s) => `Authorization: Bearer ${s}`,
    (s) => `curl -H "Authorization: Bearer ${s}" https://example.org/`,
    (s) => `headers: { Authorization: \`Bearer ${s}\` }`,
  ),
  kind(
    'basic authorization',
    (r) => base64(`${r.word(3)}:${r.password()}`),
    (s) => `Authorization: Basic ${s}`,
    (s) => JSON.stringify({ Authorization: `Basic ${s}` }),
  ),
  kind(
    'API key header',
    key,
    (s) => `x-api-key: ${s}`,
    (s) => `curl -H 'X-Auth-Token: ${s}' https://example.org`,
    (s) => `Ocp-Apim-Subscription-Key: ${s}`,
    (s) => `PRIVATE-TOKEN: ${s}`,
  ),
  kind(
    'session cookie',
    (r) => r.pick([r.hex(32), r.alnum(40)]),
    (s) => `Cookie: theme=dark; session=${s}; lang=en`,
    (s) => `Set-Cookie: connect.sid=${s}; Path=/; HttpOnly`,
    (s) => `curl -b "sessionid=${s}" https://example.org`,
  ),
  kind(
    'password in a URL',
    plainPassword,
    (s) => `postgres://app:${s}@db.example.org:5432/app`,
    (s) => `redis://:${s}@cache:6379/0`,
    (s) => `git clone https://mika:${s}@git.example.org/a.git`,
    (s) => `amqp://guest1:${s}@mq/`,
    (s) => `mongodb+srv://app:${s}@c0.example.net/db`,
  ),
  kind(
    'token in a query',
    key,
    (s) => `GET https://example.org/v1?access_token=${s}&page=2`,
    (s) => `https://example.org/a?api_key=${s}`,
    (s) => `https://x.example.org/f?sig=${encodeURIComponent(s)}&se=2026`,
    (s) => `wss://example.org/?token=${s}`,
  ),
  kind(
    'option of a command',
    password,
    (s) => `deploy --password ${s} --host a`,
    (s) => `deploy --password=${s}`,
    (s) => `tool --api-key "${s}" run`,
    (s) => JSON.stringify({ command: ['tool', '--password', s] }),
  ),
  kind(
    'option of curl',
    plainPassword,
    (s) => `curl -u mika:${s} https://example.org`,
    (s) => `curl --user 'mika:${s}' https://example.org`,
    (s) => `curl -sSu mika:${s} https://example.org`,
  ),
  kind(
    'option of mysql',
    plainPassword,
    (s) => `mysql -uroot -p${s} app`,
    (s) => `mysqldump -h db -u app -p'${s}' app > a.sql`,
    (s) => `PGPASSWORD=${s} psql -h db app`,
  ),
  kind(
    'option of other programs',
    plainPassword,
    (s) => `redis-cli -h cache -a ${s} ping`,
    (s) => `sshpass -p '${s}' ssh a@b`,
    (s) => `docker login -u mika -p ${s} registry.example.org`,
    (s) => `echo ${s} | docker login --password-stdin`,
    (s) => `sqlcmd -S db -U sa -P ${s}`,
    (s) => `ldapsearch -D cn=a -w ${s} x`,
  ),
  kind(
    'netrc',
    plainPassword,
    (s) => `machine git.example.org login mika password ${s}`,
    (s) => `machine a.example.org\n  login mika\n  password ${s}\n`,
  ),
  kind(
    'pgpass',
    plainPassword,
    (s) => `db.example.org:5432:app:mika:${s}`,
    (s) => `db.example.org:5432:*:mika:${s}\n`,
  ),
  kind(
    'Docker login',
    (r) => base64(`${r.word(3)}:${r.password()}`),
    (s) => JSON.stringify({ auths: { 'https://index.docker.io/v1/': { auth: s } } }, null, 2),
    (s) => `"auth": "${s}"`,
  ),
  kind(
    '.npmrc',
    key,
    (s) => `//registry.example.org/:_authToken=${s}`,
    (s) => `//r.example.org/:_password=${base64(s)}\n//r.example.org/:_authToken=${s}`,
  ),
  kind(
    'Kubernetes secret',
    (r) => base64(r.password()),
    (s) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  config: ${s}\n`,
    (s) => `kind: Secret\nstringData:\n  dsn: "${s}"\n`,
  ),
  kind(
    'kubeconfig',
    (r) => r.base64(120),
    (s) => `users:\n- name: a\n  user:\n    client-key-data: ${s}\n`,
    (s) => `users:\n- name: a\n  user:\n    token: ${s}\n`,
  ),
  kind(
    'SQL statement',
    password,
    (s) => `CREATE USER 'app'@'%' IDENTIFIED BY '${s}';`,
    (s) => `ALTER ROLE app WITH ENCRYPTED PASSWORD '${s}';`,
    (s) => `INSERT INTO users (name, password) VALUES ('mika', '${s}');`,
  ),
  kind(
    'connection string',
    plainPassword,
    (s) => `Server=db;Database=app;User Id=sa;Password=${s};Encrypt=true`,
    (s) => `jdbc:mysql://db/app?user=app&password=${s}`,
    (s) => `Driver={x};Server=db;Uid=a;Pwd=${s};`,
  ),
  kind(
    'source code',
    password,
    (s) => `const dbPassword = '${s}'`,
    (s) => `client = Client(user="a", password="${s}")`,
    (s) => `define('DB_PASSWORD', '${s}');`,
    (s) => `'password' => '${s}',`,
    (s) => `String apiSecret = "${s}";`,
  ),
  kind(
    'sentence',
    password,
    (s) => `The password is ${s}.`,
    (s) => `my password for the staging server is ${s}, please log in`,
    (s) => `Use ${s} as the password.`,
    (s) => `Password: ${s}`,
    (s) => `I set the admin password to "${s}" yesterday.`,
  ),
  kind(
    'sentence in Japanese',
    password,
    (s) => `パスワードは${s}です。`,
    (s) => `パスワード：${s}`,
    (s) => `管理画面のパスワードは「${s}」です`,
    (s) => `${s}をパスワードに設定してください`,
    (s) => `APIキーは ${s} を使ってください`,
  ),
  kind(
    'key in a sentence',
    (r) => r.alnum(32),
    (s) => `Here is my API key ${s}, please use it`,
    (s) => `API key: ${s}`,
    (s) => `my token is ${s}`,
    (s) => `アクセストークン: ${s}`,
  ),
  kind(
    'WireGuard key',
    (r) => `${r.base64(43)}=`,
    (s) => `[Interface]\nPrivateKey = ${s}\nAddress = 10.0.0.2/32\n`,
    (s) => `PresharedKey = ${s}\n`,
  ),
  kind(
    'key of a service without a format',
    (r) => r.hex(32),
    (s) => `DATADOG_API_KEY=${s}`,
    (s) => `algolia admin key ${s}`,
    (s) => `twilio auth token: ${s}`,
  ),
  kind(
    'one-time password',
    (r) => r.base32(32),
    (s) => `otpauth://totp/App:mika?secret=${s}&issuer=App`,
  ),
  kind(
    'table',
    plainPassword,
    (s) => `user,password,role\nmika,${s},admin\n`,
    (s) => `| user | mika |\n| password | ${s} |\n`,
  ),
  kind(
    'base64',
    (r) => base64(`ghp_${r.alnum(36)}`),
    (s) => `echo ${s} | base64 -d`,
    (s) => `data: "${s}"`,
  ),
  kind(
    'hidden in an encoding',
    (r) => `ghp_${r.alnum(12)}\u200b${r.alnum(24)}`,
    (s) => `use ${s}`,
    (s) => `a "${s}" b`,
  ),
  kind(
    'URL-encoded',
    (r) => `p%40${r.alnum(6)}%23${r.digits(3)}`,
    (s) => `https://app:${s}@example.org/`,
    (s) => `password=${s}&user=a`,
  ),
]
