/** Text that resembles a secret and is none. Nothing in it may be redacted. */
import type { Random } from './random.ts'

/** Text that talks about secrets: code, documentation, messages of programs. */
const WRITTEN = `
password: string
password: str = Field(..., min_length=8)
const password = req.body.password
const token = await getToken(user)
let token = response.headers.get('x-token')
this.apiKey = options.apiKey
api_key = os.environ["API_KEY"]
api_key = os.getenv("OPENAI_API_KEY")
apiKey: process.env.OPENAI_API_KEY,
const { apiKey, secret } = config
if (password !== confirmPassword) throw new Error('passwords differ')
password = getpass.getpass("Password: ")
token: \${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: \${{ github.token }}
password: \${DB_PASSWORD}
password: {{ .Values.db.password }}
PASSWORD=$DB_PASSWORD
export API_KEY="$(pass show api)"
PGPASSWORD="\${PGPASSWORD}" psql
DB_PASSWORD=changeme
DB_PASSWORD=your-password-here
API_KEY=<your api key>
API_KEY=YOUR_API_KEY
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
ANTHROPIC_API_KEY=sk-ant-your-key-here
STRIPE_KEY=sk_test_¦xxxxxxxxxxxxxxxxxxxxxxxx
token=********
password: "********"
"password": "••••••••"
"password": "<redacted>"
"password": ""
"password": null,
"token": true
"api_key": "YOUR_KEY"
"secret": "example-secret"
--password <password>
--token string   access token to use
--api-key value  key of the API (default: $API_KEY)
-p, --password   password to log in with
The password is required.
Optional argument to pass to [\`pageFunction\`](https://docs.example.org/api/class-page#page-eval-on-selector)
See https://specs.example.org/auth/client-to-authenticator-protocol-v2.1-ps-20210615.html
https://example.org/login?redirect_uri=https%3A%2F%2Fapp.example.org%2Fcallback&state=a1b2c3d4e5f6g7h8i9j0k
const password = getPassword("Enter it here: ")
The server needs the AUTH command before MAIL.
the pin is 13 and the code is 200
Pass the file to the function:
user, password and role are columns
expect(validatePassword).toBe(true)
設定ファイルのパスは src/app/main2.ts です
保存先のパス：data/v2_Backup
パッケージのパスは @scope/pkg-1 です
読み込むパスは tests2 です
rows identified by region_2024 and user_id
print("release-2026" "build-7")
process.env.DB_PASSWORD || defaults.password
process.env.API_TOKEN ?? readToken()
await page.fill('#password', user.password)
jwt.verify(token, publicKey)
login(user, password)
{"name": "password", "value": ""}
{"name":"api_key","type":"string","value":"\${API_KEY}"}
{"password": {"type": "string", "default": "", "minLength": 8}}
"secret": { "type": "string", "description": "value: of the secret" }
<input name="password" type="password" value="">
<entry key="password.label">Enter your password</entry>
<string name="password_hint">At least eight characters</string>
<label id="password">Your password</label>
bcrypt.hash(password, 10)
    password: typing.Optional[bytes],
        secret = keypair[:32]
hash_password(request.form["password"])
assertEquals(config.password, password)
WiFi.begin(ssid, password)
kinit mika <<< "$PASSWORD"
jdbc:oracle:thin:@//db:1521/x
user:$DB_PASSWORD@tcp(db:3306)/app
SET PASSWORD FOR 'app' = PASSWORD(?)
password <- Sys.getenv("DB_PASSWORD")
data <- read.csv("tokens.csv")
passphrase: Buffer.from(input)
The password is incorrect.
The password is stored as a hash.
The token is invalid or has expired.
Your password has been changed.
Password must be at least 8 characters long.
Password reset link sent to the user
Enter your password:
[sudo] password for mika:
Forgot your password? Click here to reset it.
Use a password manager.
password authentication failed for user "app"
error: invalid api key provided
Error: missing required key: name
TypeError: Cannot read properties of undefined (reading 'token')
SyntaxError: Unexpected token < in JSON at position 0
unexpected token '}' at line 12
max_tokens: 4096
"max_output_tokens": 128000,
"input_tokens": 18234, "output_tokens": 1034
total_tokens=19268
tokens used: 12,345
token_count 45678
tokenizer = AutoTokenizer.from_pretrained("gpt2")
token_type: Bearer
token_endpoint: https://auth.example.org/oauth/token
"token_url": "https://auth.example.org/token"
secretName: app-tls
secretKeyRef:
  name: app-secrets
  key: database-password
SECRET_NAME=my-app-secret
SECRET_ARN=arn:aws:secretsmanager:us-east-1:123456789012:secret:app
passwordField.setText(label)
<input type="password" name="password" autocomplete="current-password">
<label for="password">Password</label>
placeholder="Enter your password"
password_reset_token_expires_at
has_password = True
isPasswordVisible: false
const PASSWORD_MIN_LENGTH = 12
password_policy: strong
passwordEncoder: bcrypt
import { hashPassword } from './password.ts'
from auth.tokens import create_token
def verify_password(plain, hashed):
func NewToken(kind TokenKind, text string) Token
public String getPassword() { return password; }
case TokenType.Identifier:
export type Token = { kind: string; value: string }
key: 'value'
"key": "value"
key = lambda item: item.name
primary_key: id
foreign_key: user_id
cache_key = f"user:{user.id}:profile"
<li key={item.id}>
for key, value in data.items():
Object.keys(value).length
sort -t, -k2 --key=1
ssh-keygen -t ed25519 -C mika
keyboard: us
"keywords": ["auth", "token"]
public_key: /etc/keys/app.pub
private_key_path = "/etc/ssl/private/app.pem"
password_file: /run/secrets/db_password
--password-stdin
--password-file=./password.txt
credentials: include
credentials: 'same-origin'
auth: none
auth = (username, password)
authorization: Bearer
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer \${token}
headers: { Authorization: \`Bearer \${apiKey}\` }
Access-Control-Allow-Headers: Authorization, X-Api-Key
WWW-Authenticate: Basic realm="app"
Cookie: theme=dark; lang=en
Set-Cookie: lang=ja; Path=/; Max-Age=31536000
session: expired
sessionStorage.getItem('token')
localStorage.removeItem('access_token')
https://user@github.com/mika/app.git
https://github.com/mika/app.git
git@github.com:mika/app.git
postgres://user:¦password@localhost:5432/app
postgres://postgres:¦postgres@localhost/test
mysql://root:\${MYSQL_ROOT_PASSWORD}@db/app
redis://localhost:6379/0
http://localhost:3000/login?next=%2Fsettings
https://example.org/search?q=password+manager
https://example.org/reset?token=
https://example.org/docs#api-key
curl -u "$USER:$PASSWORD" https://example.org
curl -H "Authorization: Bearer $TOKEN" https://example.org
curl --user username:password https://example.org
mysql -u root -p
docker login -u mika --password-stdin
vault kv get secret/app
op://Private/GitHub/token
keychain://app/token
AKIA¦IOSFODNN7EXAMPLE
aws_secret_access_key = wJal¦rXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
xoxb-your-token-here
ghp_¦xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
sk_live_...
AIza¦SyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
grep -rn "-----BEGIN ¦RSA PRIVATE ¦KEY-----" .
if line.startswith("-----BEGIN ¦PRIVATE ¦KEY-----"):
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExamplePublicKeyForDocs mika@host
const SECRET_PATTERN = /secret|password|token/i
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_USER_MODEL = "accounts.User"
SECRET_KEY = env("SECRET_KEY")
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "insecure")
jwt.sign(payload, process.env.JWT_SECRET)
jwt.verify(token, publicKey, { algorithms: ['RS256'] })
passport.use(new LocalStrategy(verify))
app.use(session({ secret: process.env.SESSION_SECRET }))
password.length < 8
password?.trim()
password => hash(password)
expect(password).toBe('password')
test('rejects a wrong password', async () => {
it('returns a token for valid credentials', () => {
// TODO: rotate the secret
# The API key is read from the environment.
2026-03-04 05:06:07 INFO auth: token refreshed for user 42
2026-03-04 05:06:07 WARN password attempt 3 of 5 failed
2 tests passed: token, secret
パスワードは必須です
パスワードは8文字以上で入力してください
パスワードを変更しました
パスワードを忘れた方はこちら
パスワードが正しくありません
トークンの有効期限が切れています
APIキーを設定してください
APIキーは環境変数 OPENAI_API_KEY から読み込みます
認証情報が見つかりません
秘密鍵は ~/.ssh/id_ed25519 に保存されます
パスワード：未設定
トークン数: 12345
$ cat token.ts
You can pass to \`shrink\` a value
make it pass to \`baseUrl2\`
the second pass is \`typecheck\`
password = result.groups?.password
the session key is \`chat-2026-01\`
このキーは item2.id です
account: acme-corp / project-12
credentials: aws / profile-2
{"name":"_ga","value":"GA1.2.1234567890.1700000000","httpOnly":false}
{"value":"monthly-report-2026","name":"key"}
Account: production / 2026-01-01
accounts: 12 / 30 active
credentials: 'same-origin'
the password is generated for each user: see the docs
new Wallet(privateKey)
SAMLResponse is missing
BQ is short for BigQuery
src/hooks/useSomethingVeryLongName26
SWMTKN-1-...
prompt_key: "system_prompt_v2_2026"
rootpw --iscrypted $HASH
snmp-server community public RO
モデル,入力トークン
| 項目 | パスワード要件 |
`
  // Splits what scanners of this repository would take for a secret.
  .replaceAll('¦', '')
  .split('\n')
  .filter((line) => line !== '')

const made = (count: number, random: Random, make: (random: Random) => string): readonly string[] =>
  Array.from({ length: count }, () => make(random))

/** Ids, hashes and numbers that look as random as a secret. */
export function lookAlikes(random: Random): readonly string[] {
  return [
    ...WRITTEN,
    ...made(8, random, (r) => `commit ${r.hex(40)}`),
    ...made(4, random, (r) => `${r.hex(7)}..${r.hex(7)} main -> main`),
    ...made(6, random, (r) => `sha256:${r.hex(64)}`),
    ...made(6, random, (r) => `"integrity": "sha512-${r.base64(86)}=="`),
    ...made(4, random, (r) => `MD5 (a.tar) = ${r.hex(32)}`),
    ...made(6, random, (r) => `"id": "${r.uuid()}"`),
    ...made(4, random, (r) => `session id: ${r.uuid()}`),
    ...made(4, random, (r) => `"session_id":"${r.uuid()}"`),
    ...made(4, random, (r) => `request_id=req_${r.alnum(24)}`),
    ...made(4, random, (r) => `"service_tier":"standard","input_tokens":3}},"requestId":"req_${r.hex(24)}"`),
    ...made(4, random, (r) => `"call_id": "call_${r.alnum(24)}"`),
    ...made(4, random, (r) => `"tool_use_id": "toolu_01${r.alnum(22)}"`),
    ...made(4, random, (r) => `"id": "msg_${r.hex(48)}"`),
    ...made(4, random, (r) => `"id": "chatcmpl-${r.alnum(29)}"`),
    ...made(4, random, (r) => `"prompt_cache_key": "${r.uuid()}"`),
    ...made(4, random, (r) => `dist/assets/index-${r.alnum(8)}.js 142.31 kB`),
    ...made(4, random, (r) => `/var/lib/docker/overlay2/${r.hex(64)}/merged`),
    ...made(4, random, (r) => `https://cdn.example.org/a/${r.hex(32)}/b.png`),
    ...made(4, random, (r) => `etag: "${r.hex(32)}"`),
    ...made(4, random, (r) => `trace=${r.hex(32)} span=${r.hex(16)}`),
    ...made(4, random, (r) => `public_key = "${r.base64(43)}="`),
    ...made(4, random, (r) => `pk_live_${r.alnum(24)}`),
    ...made(4, random, (r) => `ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB${r.base64(300)} a@b`),
    ...made(4, random, (r) => `arn:aws:iam::${r.digits(12)}:role/${r.word(4)}`),
    ...made(3, random, (r) => `ULID 01${r.upper(24)}`),
    ...made(3, random, (r) => `color: #${r.hex(6)}; background: #${r.hex(3)}`),
    ...made(3, random, (r) => `node_modules/.pnpm/${r.word(3)}@1.2.3_${r.hex(26)}/node_modules`),
    ...made(3, random, (r) => `phone +81 ${r.digits(2)}-${r.digits(4)}-${r.digits(4)}`),
    ...made(
      3,
      random,
      (r) => `"encoded": "${Buffer.from(`${r.word(5)} ${r.word(6)} ${r.word(4)} ${r.word(7)}`).toString('base64')}"`,
    ),
  ]
}
