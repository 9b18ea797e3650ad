/**
 * What the invented sessions of the memory benchmark are about: components of software, and problems that each of them
 * can have. A question asks in other words than its session uses: it shares the component, and little of the rest.
 * `{c}` stands for the component, `{f}` for its file, `{s}` for its symbol.
 */

/** Names in three languages: the usual one, then another. */
export const COMPONENTS = [
  [
    'src/billing/webhook.ts',
    'handleBillingEvent',
    ['billing webhook', 'payment callback'],
    ['課金 Webhook', '決済通知の受け口'],
    ['计费回调', '支付通知接口'],
  ],
  [
    'src/session/cache.ts',
    'SessionCache',
    ['session cache', 'login store'],
    ['セッションキャッシュ', 'ログイン情報の保存'],
    ['会话缓存', '登录状态存储'],
  ],
  [
    'src/import/csv.ts',
    'parseRows',
    ['CSV importer', 'spreadsheet upload'],
    ['CSV 取り込み', '表計算ファイルのアップロード'],
    ['CSV 导入', '表格上传'],
  ],
  [
    'src/search/suggest.ts',
    'suggestTerms',
    ['search suggestions', 'autocomplete box'],
    ['検索候補', '入力補完'],
    ['搜索建议', '自动补全'],
  ],
  [
    'src/mail/queue.ts',
    'MailQueue',
    ['mail queue', 'outgoing messages'],
    ['メール送信キュー', '送信待ちの通知'],
    ['邮件队列', '待发通知'],
  ],
  [
    'src/report/pdf.ts',
    'renderInvoice',
    ['PDF report', 'printed invoice'],
    ['PDF 帳票', '請求書の印刷'],
    ['PDF 报表', '发票打印'],
  ],
  [
    'src/api/rate-limit.ts',
    'TokenBucket',
    ['rate limiter', 'request throttling'],
    ['レート制限', 'リクエストの間引き'],
    ['限流器', '请求节流'],
  ],
  [
    'src/jobs/scheduler.ts',
    'nextRun',
    ['job scheduler', 'cron runner'],
    ['ジョブスケジューラー', '定期実行'],
    ['任务调度', '定时执行'],
  ],
  [
    'src/image/thumbnail.ts',
    'makeThumbnail',
    ['thumbnail service', 'picture resizing'],
    ['サムネイル生成', '画像の縮小'],
    ['缩略图服务', '图片缩放'],
  ],
  [
    'src/auth/oauth.ts',
    'exchangeCode',
    ['OAuth login', 'sign-in flow'],
    ['OAuth ログイン', 'サインイン処理'],
    ['OAuth 登录', '登录流程'],
  ],
  [
    'src/stock/sync.ts',
    'syncInventory',
    ['inventory sync', 'stock levels'],
    ['在庫同期', '在庫数の反映'],
    ['库存同步', '库存数量'],
  ],
  [
    'src/chat/socket.ts',
    'ChatSocket',
    ['chat socket', 'live messaging'],
    ['チャットの WebSocket', 'リアルタイム通信'],
    ['聊天长连接', '实时消息'],
  ],
  [
    'src/export/archive.ts',
    'packArchive',
    ['data export', 'account download'],
    ['データ書き出し', 'アカウント情報のダウンロード'],
    ['数据导出', '账户下载'],
  ],
  [
    'src/i18n/dates.ts',
    'formatDay',
    ['date formatting', 'calendar labels'],
    ['日付の表示', 'カレンダーの見出し'],
    ['日期格式', '日历标签'],
  ],
  [
    'src/admin/audit.ts',
    'recordAudit',
    ['audit trail', 'admin history'],
    ['監査ログ', '管理者の操作履歴'],
    ['审计日志', '管理员操作记录'],
  ],
  [
    'src/upload/chunks.ts',
    'joinChunks',
    ['chunked upload', 'large file transfer'],
    ['分割アップロード', '大きなファイルの送信'],
    ['分片上传', '大文件传输'],
  ],
].map(([file, symbol, en, ja, zh]) => ({ file, symbol, en, ja, zh }))

export const PROBLEMS = [
  {
    en: {
      say: [
        'Customers see the same thing happen twice since {c} went live. Can you look?',
        '{c} handles one event two times now and then.',
      ],
      cause: 'The sender retries after a timeout, and {s} has no memory of what it already did.',
      fix: 'I store the event id with a unique constraint and return early, so a repeat has no effect.',
      sum: 'In short: {c} was not idempotent, so a retry was processed as a duplicate. Now it is.',
      ask: [
        'How did we stop duplicates in {c}?',
        'What makes {c} idempotent today?',
        'Why were things processed double by {c}, and what was the remedy?',
      ],
    },
    ja: {
      say: [
        '{c} で同じ処理が二回走ることがあります。調べてください。',
        '{c} が一つのイベントを二度処理しているようです。',
      ],
      cause: '送信側がタイムアウト後に再送しますが、{s} は処理済みかどうかを覚えていません。',
      fix: 'イベント ID に一意制約を付けて保存し、既にあれば何もせずに戻るようにしました。',
      sum: 'まとめると、{c} が冪等でなかったため再送が重複になっていました。今は冪等です。',
      ask: [
        '{c} の重複をどうやって防いだんだっけ？',
        '{c} を冪等にした方法は？',
        '{c} が二重に動いていた原因と対処を教えて',
      ],
    },
    zh: {
      say: ['{c} 上线以后，同一件事会发生两次，请看一下。', '{c} 偶尔会把一个事件处理两遍。'],
      cause: '发送方超时后会重试，而 {s} 不记得自己已经处理过什么。',
      fix: '我给事件编号加了唯一约束，遇到已有的就直接返回，重复的请求不再生效。',
      sum: '总之：{c} 不是幂等的，重试就变成重复执行，现在已经幂等。',
      ask: ['{c} 的重复问题当时怎么解决的？', '我们是怎么让 {c} 变成幂等的？', '为什么 {c} 会执行两遍，最后怎么改的？'],
    },
  },
  {
    en: {
      say: [
        '{c} eats more and more RAM until the pod is killed.',
        'The process with {c} grows by 200 MB an hour. Please find out why.',
      ],
      cause: 'Listeners are added on every call in {s} and never removed, so closures pile up.',
      fix: 'I remove the listener in a finally block and cap the map at 5,000 entries.',
      sum: 'So it was a memory leak: listeners kept objects alive. The heap of {c} stays flat now.',
      ask: [
        'Where did the memory leak in {c} come from?',
        'How did we get the growing heap of {c} under control?',
        'What held on to objects in {c}?',
      ],
    },
    ja: {
      say: [
        '{c} のメモリー使用量が増え続けて、Pod が落ちます。',
        '{c} のプロセスが一時間に 200 MB ずつ大きくなります。理由を調べてください。',
      ],
      cause: '{s} を呼ぶたびにリスナーが追加され、外されないままクロージャーが溜まっています。',
      fix: 'finally でリスナーを外し、Map の上限を 5,000 件にしました。',
      sum: 'つまりリスナーが解放されないメモリーリークでした。{c} のヒープは増えなくなりました。',
      ask: [
        '{c} のメモリーリークはどこが原因だった？',
        '{c} のヒープが膨らむ問題をどう抑えた？',
        '{c} で解放されていなかったものは何？',
      ],
    },
    zh: {
      say: ['{c} 占用的内存越来越多，直到 Pod 被杀掉。', '{c} 所在的进程每小时涨 200 MB，请找出原因。'],
      cause: '每次调用 {s} 都会添加监听器，却从不移除，闭包越积越多。',
      fix: '我在 finally 里移除监听器，并把 Map 限制在 5,000 条。',
      sum: '所以是监听器没有释放造成的内存泄漏，{c} 的堆现在很平稳。',
      ask: ['{c} 的内存泄漏出在哪里？', '{c} 的堆一直变大，后来怎么控制住的？', '{c} 里是什么没有被释放？'],
    },
  },
  {
    en: {
      say: [
        'Should {c} move from Redis to Postgres? I want one thing less to operate.',
        'We argue about where {c} keeps its state: Redis or Postgres.',
      ],
      cause: 'At our volume a table with an index on expires_at answers in 2 ms, and backups come for free.',
      fix: 'Decided: Postgres with SKIP LOCKED. Redis goes away after the next release.',
      sum: 'I wrote the decision and the reasons for the database of {c} into docs/decisions.',
      ask: [
        'Which database did we choose for {c}, and why?',
        'Why does {c} not use Redis any more?',
        'What was the reasoning about storage for {c}?',
      ],
    },
    ja: {
      say: [
        '{c} を Redis から Postgres に移すべきでしょうか。運用するものを減らしたいです。',
        '{c} の状態を Redis と Postgres のどちらに置くか迷っています。',
      ],
      cause: '今の量なら expires_at に索引を張った表で 2 ms で返り、バックアップも一緒に取れます。',
      fix: '決定：SKIP LOCKED を使って Postgres に置く。Redis は次のリリースの後に廃止する。',
      sum: '{c} のデータベースの選定理由と保存先を docs/decisions に書きました。',
      ask: [
        '{c} の保存先はどれに決めた？ 理由も',
        'なぜ {c} は Redis をやめたの？',
        '{c} のデータベース選定の経緯は？',
      ],
    },
    zh: {
      say: [
        '{c} 要不要从 Redis 搬到 Postgres？我想少维护一个东西。',
        '{c} 的状态放 Redis 还是 Postgres，我们争论不下。',
      ],
      cause: '以我们的量，在 expires_at 上建索引的表 2 毫秒就能返回，备份也顺带有了。',
      fix: '决定：用 Postgres 加 SKIP LOCKED，下个版本之后下线 Redis。',
      sum: '{c} 选用数据库和存储的原因写在 docs/decisions 里了。',
      ask: ['{c} 最后选了哪个数据库，为什么？', '{c} 为什么不再用 Redis？', '当时关于 {c} 存储的考虑是什么？'],
    },
  },
  {
    en: {
      say: [
        'Times in {c} are off by nine hours for users in Tokyo.',
        '{c} shows yesterday for people in Japan in the morning.',
      ],
      cause: '{s} builds the day from UTC and the browser shifts it again.',
      fix: 'I keep instants in UTC and format with the IANA zone of the account at the very end.',
      sum: 'The time zone was applied two times. {c} shows the right day in Tokyo now.',
      ask: [
        'How do we treat time zones in {c}?',
        'What was wrong with the clock in {c} for Japanese users?',
        'Why did {c} show a wrong day in Asia?',
      ],
    },
    ja: {
      say: ['{c} の時刻が東京のユーザーで 9 時間ずれます。', '{c} が日本の朝に前日の日付を出します。'],
      cause: '{s} が UTC から日を作り、ブラウザーがもう一度ずらしています。',
      fix: '時点は UTC のまま持ち、最後にアカウントの IANA タイムゾーンで整形します。',
      sum: 'タイムゾーンの時差が二重に掛かっていました。{c} は日本でも正しい日付を出します。',
      ask: [
        '{c} のタイムゾーンはどう扱うことにした？',
        '{c} で日本だけ日付がおかしかったのはなぜ？',
        '{c} の時差の不具合をどう直した？',
      ],
    },
    zh: {
      say: ['{c} 的时间对东京用户差了九个小时。', '在日本早上打开，{c} 显示的是前一天。'],
      cause: '{s} 用 UTC 算出日期，浏览器又偏移了一次。',
      fix: '时刻统一存 UTC，最后才按账户的 IANA 时区格式化。',
      sum: '时区被算了两次，所以显示错一天。{c} 现在在亚洲也正确。',
      ask: ['{c} 的时区我们是怎么处理的？', '{c} 为什么在亚洲显示错一天？', '{c} 的时差问题怎么修的？'],
    },
  },
  {
    en: {
      say: [
        '{c} became slow: the page needs eight seconds for big accounts.',
        'p95 of {c} went from 300 ms to 4 s after the last deploy.',
      ],
      cause: '{s} runs one query per row; with 3,000 rows the round trips add up.',
      fix: 'I load the rows with one join and a DataLoader for the rest. p95 is 210 ms again.',
      sum: 'A classic N+1. The latency of {c} is back where it was before the deploy.',
      ask: [
        'How did we speed up {c}?',
        'What was the N+1 problem in {c}?',
        'Why did the latency of {c} rise, and what helped?',
      ],
    },
    ja: {
      say: [
        '{c} が遅くなり、大きなアカウントでは表示に 8 秒かかります。',
        '前回のデプロイから {c} の p95 が 300 ms から 4 秒になりました。',
      ],
      cause: '{s} が行ごとに問い合わせを出していて、3,000 行だと往復だけで遅くなります。',
      fix: '一つの結合でまとめて読み、残りは DataLoader にしました。p95 は 210 ms に戻りました。',
      sum: '典型的な N+1 でした。{c} のレイテンシーはデプロイ前に戻りました。',
      ask: [
        '{c} をどうやって速くした？',
        '{c} の N+1 はどこにあった？',
        '{c} のレイテンシーが悪化した理由と効いた対策は？',
      ],
    },
    zh: {
      say: ['{c} 变慢了，大账户要等八秒才出来。', '上次部署之后 {c} 的 p95 从 300 ms 变成 4 秒。'],
      cause: '{s} 每一行查一次，3,000 行的往返加起来就很久。',
      fix: '我用一次连接把行读出来，其余用 DataLoader，p95 回到 210 ms。',
      sum: '典型的 N+1 查询，{c} 的延迟恢复到部署之前。',
      ask: ['{c} 是怎么提速的？', '{c} 的 N+1 查询在哪里？', '{c} 的延迟为什么升高，什么办法有用？'],
    },
  },
  {
    en: {
      say: [
        'The tests of {c} fail about one time in ten on CI, never here.',
        'Please make the spec of {c} stable, it is red at random.',
      ],
      cause: 'The test waits 50 ms for {s}; a loaded runner needs longer.',
      fix: 'I wait for the event instead of sleeping, and inject the clock.',
      sum: 'That was the flaky part: a race with the sleep. CI ran {c} fifty times without a failure.',
      ask: [
        'Why were the tests for {c} flaky?',
        'How did we get rid of the intermittent CI failures in {c}?',
        'What replaced the sleep in the {c} spec?',
      ],
    },
    ja: {
      say: [
        '{c} のテストが CI で十回に一回くらい落ちます。手元では落ちません。',
        '{c} のテストがたまに赤くなるので、安定させてください。',
      ],
      cause: 'テストが {s} を 50 ms しか待たず、混んだランナーでは足りません。',
      fix: 'sleep をやめてイベントを待ち、時計は外から渡すようにしました。',
      sum: '不安定だったのは sleep との競合です。CI で {c} を五十回実行して失敗はありませんでした。',
      ask: [
        '{c} のテストが不安定だった原因は？',
        '{c} の CI の時々の失敗をどうなくした？',
        '{c} のテストで sleep の代わりに何を使った？',
      ],
    },
    zh: {
      say: ['{c} 的测试在 CI 上十次会挂一次，本地从来不挂。', '请让 {c} 的测试稳定下来，它随机变红。'],
      cause: '测试只等 {s} 50 毫秒，繁忙的机器不够用。',
      fix: '不再 sleep，改为等待事件，并且注入时钟。',
      sum: '不稳定的原因就是和 sleep 的竞争，CI 上把 {c} 跑了五十次没有失败。',
      ask: ['{c} 的测试为什么不稳定？', '{c} 在 CI 上偶发的失败怎么消除的？', '{c} 的测试里用什么代替了 sleep？'],
    },
  },
  {
    en: {
      say: [
        'Someone could read other tenants through {c} by changing the id. Urgent.',
        'A customer reported that {c} shows a foreign account.',
      ],
      cause: '{s} trusts the id in the query string and never compares it with the tenant of the token.',
      fix: 'Every query now goes through withTenant(), and a test tries foreign ids.',
      sum: 'It was a hole in access control. Tenants of {c} are isolated in one place now, and the security note is written.',
      ask: [
        'What was the security hole in {c}?',
        'How do we isolate tenants in {c}?',
        'How did we close the access control bug of {c}?',
      ],
    },
    ja: {
      say: [
        'ID を変えるだけで {c} から他社のデータが見えます。至急お願いします。',
        '{c} に他人のアカウントが表示されたと連絡がありました。',
      ],
      cause: '{s} がクエリー文字列の ID を信用し、トークンのテナントと照合していません。',
      fix: 'すべての問い合わせを withTenant() に通し、他社の ID を試すテストを加えました。',
      sum: 'アクセス制御の脆弱性でした。{c} のテナントは一か所で分離し、報告も書きました。',
      ask: ['{c} の脆弱性は何だった？', '{c} でテナントをどう分離している？', '{c} のアクセス制御の穴をどうふさいだ？'],
    },
    zh: {
      say: ['改一下编号就能通过 {c} 看到别的租户，很紧急。', '客户反映 {c} 显示了别人的账户。'],
      cause: '{s} 相信查询串里的编号，没有和令牌里的租户比较。',
      fix: '所有查询都走 withTenant()，并加了尝试他人编号的测试。',
      sum: '这是越权的安全漏洞，{c} 的租户隔离现在集中在一处，说明也写好了。',
      ask: ['{c} 的安全漏洞是什么？', '{c} 里租户怎么隔离？', '{c} 的越权问题怎么补上的？'],
    },
  },
  {
    en: {
      say: [
        'Upgrade the library below {c} to the new major version.',
        '{c} still sits on version 2 of its dependency, which is out of support.',
      ],
      cause: 'Version 3 returns promises and renamed two options; {s} used callbacks.',
      fix: 'I wrapped the callbacks with async functions, renamed maxAge to ttl, and pinned 3.1.4 because 3.2 breaks on Node 20.',
      sum: 'The migration of {c} to v3 is complete; the dependency stays pinned until the bug in the newer release is fixed.',
      ask: [
        'Which release did we pin for {c}, and why not a newer one?',
        'What changed for {c} in the migration to v3?',
        'What broke when we updated the dependency of {c}?',
      ],
    },
    ja: {
      say: [
        '{c} が使うライブラリーを次のメジャーバージョンに上げてください。',
        '{c} の依存がサポート切れのバージョン 2 のままです。',
      ],
      cause: 'バージョン 3 は Promise を返し、オプション名が二つ変わりました。{s} はコールバックのままです。',
      fix: 'async 関数で包み、maxAge を ttl に変え、3.2 は Node 20 で動かないので 3.1.4 に固定しました。',
      sum: '{c} の v3 への移行は完了です。新しいリリースの不具合が直るまで依存は固定します。',
      ask: [
        '{c} で固定したリリースはどれ？ 新しいものにしない理由は？',
        '{c} の v3 への移行で変わった点は？',
        '{c} の依存更新で壊れたのは何？',
      ],
    },
    zh: {
      say: ['把 {c} 底下的库升到新的大版本。', '{c} 还用着已经停止支持的第 2 版依赖。'],
      cause: '第 3 版返回 Promise，还改了两个选项名，{s} 用的是回调。',
      fix: '我用 async 函数包装，把 maxAge 改成 ttl，因为 3.2 在 Node 20 上有问题，所以固定在 3.1.4。',
      sum: '{c} 到 v3 的迁移完成，新版本的问题修好之前依赖保持固定。',
      ask: ['{c} 固定在哪个发布版本，为什么不用更新的？', '{c} 迁移到 v3 有什么变化？', '{c} 更新依赖时坏了什么？'],
    },
  },
  {
    en: {
      say: [
        'Two workers block each other in {c}; the log is full of aborted transactions.',
        '{c} hangs for a minute under load and then half of the requests fail.',
      ],
      cause: '{s} locks accounts and then orders, the nightly job does it the other way round.',
      fix: 'Both now take locks in the order of the primary key, with a retry of three attempts.',
      sum: 'So two sides waited for each other: a deadlock, from the order of locks in {c}.',
      ask: [
        'What caused the deadlock in {c}?',
        'In which order does {c} acquire locks now?',
        'How did we resolve the contention in {c}?',
      ],
    },
    ja: {
      say: [
        '{c} でワーカー同士が止め合い、ログが中断されたトランザクションだらけです。',
        '負荷がかかると {c} が一分ほど固まり、半分の要求が失敗します。',
      ],
      cause: '{s} は口座、注文の順にロックし、夜間ジョブは逆の順です。',
      fix: 'どちらも主キーの順にロックを取り、三回まで再試行します。',
      sum: 'お互いを待つデッドロックで、{c} のロックの順番が原因でした。',
      ask: ['{c} のデッドロックの原因は？', '{c} はいまどの順番でロックを取る？', '{c} の競合をどう解消した？'],
    },
    zh: {
      say: ['两个工作进程在 {c} 里互相卡住，日志里全是中止的事务。', '负载高时 {c} 会卡一分钟，然后一半请求失败。'],
      cause: '{s} 先锁账户再锁订单，夜间任务的顺序相反。',
      fix: '现在两边都按主键顺序加锁，并最多重试三次。',
      sum: '两边互相等待，就是死锁，原因是 {c} 里加锁的顺序。',
      ask: ['{c} 的死锁是怎么来的？', '{c} 现在按什么顺序取锁？', '{c} 的竞争怎么解决的？'],
    },
  },
  {
    en: {
      say: [
        'Names with accents come out as question marks in {c}.',
        '{c} mangles umlauts and emoji since the new server.',
      ],
      cause:
        'The connection falls back to latin1, because the driver ignores the charset in the URL; {s} writes broken bytes.',
      fix: 'I set client_encoding explicitly and repaired 1,204 rows with a script in tools/repair-names.ts.',
      sum: 'The encoding is UTF-8 from end to end now, and old rows of {c} are no longer garbled.',
      ask: [
        'Why did special characters break in {c}?',
        'How did we fix the encoding of {c}, also for old rows?',
        'Which setting corrected the garbled text in {c}?',
      ],
    },
    ja: {
      say: ['{c} で濁点付きの文字が「?」になります。', '新しいサーバーにしてから {c} の絵文字が化けます。'],
      cause: 'ドライバーが URL の charset を無視して latin1 で接続し、{s} が壊れたバイトを書いています。',
      fix: 'client_encoding を明示し、壊れた 1,204 行は tools/repair-names.ts で直しました。',
      sum: 'エンコーディングは端から端まで UTF-8 になり、{c} の文字化けした古い行も直りました。',
      ask: [
        '{c} の文字化けの原因は？',
        '{c} のエンコーディングをどう直した？ 古い行は？',
        '{c} で化けた文字を直した設定は？',
      ],
    },
    zh: {
      say: ['{c} 里带重音的名字变成了问号。', '换了新服务器以后 {c} 的表情符号全乱了。'],
      cause: '驱动忽略了 URL 里的 charset，用 latin1 连接，{s} 写进去的是坏字节。',
      fix: '我显式设置 client_encoding，并用 tools/repair-names.ts 修复了 1,204 行。',
      sum: '现在全程都是 UTF-8 编码，{c} 的旧数据也不再乱码。',
      ask: ['{c} 为什么会乱码？', '{c} 的编码怎么修的，旧数据怎么办？', '哪个设置解决了 {c} 的乱码？'],
    },
  },
  {
    en: {
      say: [
        'Please never write to the production bucket from {c} in tests. It happened today.',
        'Tests of {c} touched real customer files!',
      ],
      cause: 'The default profile of the shell leaks into the test run, and {s} takes it.',
      fix: 'Rule from now on: {c} refuses to start without FIXTURE_BUCKET, and CI has no credentials at all.',
      sum: 'I added the rule about production data and the environment variable to CONTRIBUTING, so that test runs of {c} stay safe.',
      ask: [
        'What is the rule about production data for {c}?',
        'How do we keep {c} away from real customer data in tests?',
        'Which variable guards {c} in test runs?',
      ],
    },
    ja: {
      say: [
        '{c} のテストから本番のバケットに書き込まないでください。今日起きました。',
        '{c} のテストが実際の顧客ファイルを触りました。',
      ],
      cause: 'シェルの既定プロファイルがテストに漏れ、{s} がそれを使っています。',
      fix: '今後の決まり：FIXTURE_BUCKET がなければ {c} は起動を拒む。CI には認証情報を一切置かない。',
      sum: '本番データの決まりと環境変数を CONTRIBUTING に書いたので、{c} のテスト実行は安全です。',
      ask: [
        '{c} の本番データについての約束は？',
        'テスト中の {c} を本番データから守る仕組みは？',
        '{c} のテスト実行を守る環境変数は？',
      ],
    },
    zh: {
      say: ['测试时绝不要从 {c} 写生产桶，今天就发生了。', '{c} 的测试动到了真实客户的文件！'],
      cause: 'Shell 的默认配置漏进了测试，{s} 用了它。',
      fix: '从现在起的规则：没有 FIXTURE_BUCKET，{c} 拒绝启动；CI 上不放任何凭证。',
      sum: '关于生产数据的规定和环境变量写进了 CONTRIBUTING，{c} 的测试运行是安全的。',
      ask: [
        '关于 {c} 和生产数据的规定是什么？',
        '测试时怎么防止 {c} 碰到真实客户数据？',
        '哪个变量保护 {c} 的测试运行？',
      ],
    },
  },
  {
    en: {
      say: ['Design an undo for {c}. People delete by mistake.', '{c} needs a way back after a wrong click.'],
      cause: 'Hard deletes in {s} lose the children; a snapshot per change would be 40 GB a month.',
      fix: 'We go with soft deletes: deleted_at, hidden after 30 days by a sweep, restorable from the menu.',
      sum: 'With that, users recover deleted items of {c} themselves, and mistakes can be reverted for 30 days.',
      ask: [
        'How does recovery of deleted items work in {c}?',
        'What did we agree for reverting mistakes in {c}?',
        'How long can users bring things back in {c}?',
      ],
    },
    ja: {
      say: [
        '{c} に取り消し機能を設計してください。間違って消す人がいます。',
        '{c} で押し間違えたときに戻れるようにしたいです。',
      ],
      cause: '{s} の物理削除では子も失われ、変更ごとのスナップショットは月 40 GB になります。',
      fix: '論理削除にします。deleted_at を付け、30 日後に掃除し、それまではメニューから戻せます。',
      sum: 'これで {c} の削除は利用者が自分で復元でき、誤操作は 30 日間戻せます。',
      ask: [
        '{c} で削除したものの復元はどうなっている？',
        '{c} の誤操作を戻す方法はどう決めた？',
        '{c} は何日前まで復元できる？',
      ],
    },
    zh: {
      say: ['给 {c} 设计撤销功能，有人会误删。', '{c} 点错之后要能退回来。'],
      cause: '{s} 里的物理删除会丢掉子项，每次改动存快照一个月要 40 GB。',
      fix: '采用软删除：加 deleted_at，30 天后清理，在此之前可以从菜单恢复。',
      sum: '这样用户可以自己恢复 {c} 里删除的东西，误操作 30 天内都能撤回。',
      ask: ['{c} 删掉的东西怎么恢复？', '{c} 的误操作怎么撤回，我们怎么定的？', '{c} 里多久以内可以找回？'],
    },
  },
]

/** Work on a component that no question is about. */
export const CHORES = {
  en: [
    'Rename the variables in {f} to match the style guide of {c}.',
    'Write a README section about {c}.',
    'Split {f}, it is too long. Keep the API of {c}.',
    'Add types to {s}.',
    'Show me how {c} is wired up.',
  ],
  ja: [
    '{f} の変数名を {c} の規約に合わせてください。',
    '{c} の README を書いてください。',
    '{f} が長いので分割してください。{c} の API はそのままで。',
    '{s} に型を付けてください。',
    '{c} がどうつながっているか説明してください。',
  ],
  zh: [
    '把 {f} 里的变量名改成符合 {c} 规范的写法。',
    '给 {c} 写一段 README。',
    '{f} 太长了，拆分一下，保持 {c} 的接口不变。',
    '给 {s} 加上类型。',
    '说明一下 {c} 是怎么接起来的。',
  ],
}

export const SMALL_TALK = {
  en: {
    prompt: [
      'Thanks. Now run the tests again.',
      'Looks good, commit it.',
      'Can you explain that again?',
      'Why? What else did you try?',
      'Please also fix the lint errors.',
    ],
    answer: [
      'All tests pass. I changed two files and checked how we handle errors, time and memory there.',
      'Done. The reasoning is in the commit message.',
      'I looked at three ways; this one changes the least.',
    ],
  },
  ja: {
    prompt: [
      'ありがとう。もう一度テストを実行してください。',
      '良さそうです。コミットしてください。',
      'もう一度説明してください。',
      'なぜですか？ ほかに何を試しましたか？',
      'lint のエラーも直してください。',
    ],
    answer: [
      'テストはすべて通りました。二つのファイルを変え、エラーや時刻の扱いも確認しました。',
      '完了しました。理由はコミットメッセージに書きました。',
      '三つの方法を比べ、変更が最も少ないものにしました。',
    ],
  },
  zh: {
    prompt: [
      '谢谢，再跑一遍测试。',
      '看起来不错，提交吧。',
      '能再解释一下吗？',
      '为什么？还试过什么？',
      '顺便修一下 lint 错误。',
    ],
    answer: [
      '测试全部通过。我改了两个文件，也检查了错误和时间的处理。',
      '完成了，理由写在提交说明里。',
      '我比较了三种办法，这个改动最小。',
    ],
  },
}

/** Errors with what varies from one occurrence to the next: line, port, time, identifier. */
export const ERRORS = [
  {
    text: (v) =>
      `TypeError: Cannot read properties of undefined (reading '${v.field}')\n    at ${v.symbol} (/app/${v.file}:${v.line}:17)`,
    fix: (v) => `${v.field} is missing in old records; ${v.symbol} now defaults it.`,
  },
  {
    text: (v) =>
      `Error: connect ECONNREFUSED 127.0.0.1:${v.port}\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1${v.line}:16)\n  service: ${v.service}`,
    fix: (v) => `${v.service} starts after us in docker compose; depends_on with a health check.`,
  },
  {
    text: (v) =>
      `FATAL: password authentication failed for user "${v.user}"\nconnection to ${v.service}-db:5432 closed`,
    fix: (v) => `The secret of ${v.user} was rotated; the deployment of ${v.service} still mounted the old one.`,
  },
  {
    text: (v) =>
      `npm error ERESOLVE could not resolve\nnpm error While resolving: ${v.pkg}@${v.version}\nnpm error Found: react@19.${v.line % 9}.0`,
    fix: (v) => `${v.pkg} only allows react 18; an override in package.json until its next release.`,
  },
  {
    text: (v) =>
      `error[E0502]: cannot borrow \`${v.field}\` as mutable because it is also borrowed as immutable\n  --> ${v.file.replace('.ts', '.rs')}:${v.line}:9`,
    fix: (v) => `Cloned the key before the loop, so ${v.field} is no longer borrowed.`,
  },
  {
    text: (v) =>
      `ERROR 1213 (40001): Deadlock found when trying to get lock; try restarting transaction\n  table: ${v.table}`,
    fix: (v) => `Sorted the ids before the update of ${v.table}.`,
  },
  {
    text: (v) =>
      `Traceback (most recent call last):\n  File "/srv/${v.service}/main.py", line ${v.line}, in <module>\nModuleNotFoundError: No module named '${v.pkg.replaceAll('-', '_')}'`,
    fix: (v) => `${v.pkg} was only in the dev group of pyproject.toml.`,
  },
  {
    text: (v) => `x509: certificate signed by unknown authority: Get "https://${v.service}.internal:${v.port}/healthz"`,
    fix: (v) => `Mounted the company root certificate into the image of ${v.service}.`,
  },
]

/** Facts that only tool output holds. */
export const OUTPUTS = [
  {
    command: (v) => ['k6', 'run', `load/${v.service}.js`],
    output: (v) =>
      `scenarios: (100.00%) 1 scenario, 50 max VUs\nhttp_req_duration..: avg=${v.a}ms p(95)=${v.b}ms\n  { endpoint:/api/${v.path} }: avg=${v.a}ms\nhttp_req_failed....: 0.${v.line % 90}%\niterations.........: ${v.port}`,
    ask: {
      en: (v) => `What did the k6 load test of /api/${v.path} show?`,
      ja: (v) => `/api/${v.path} の k6 負荷試験の結果は？`,
      zh: (v) => `/api/${v.path} 的 k6 压测结果怎么样？`,
    },
  },
  {
    command: (v) => ['npm', 'audit', '--prefix', v.service],
    output: (v) =>
      `# npm audit report\n\n${v.pkg}  <${v.version}\nSeverity: high\nPrototype pollution in ${v.pkg} - https://github.com/advisories/GHSA-${v.hash}\nfix available via npm audit fix\nnode_modules/${v.pkg}`,
    ask: {
      en: (v) => `Was there a vulnerability in ${v.pkg}, and which version is safe?`,
      ja: (v) => `${v.pkg} の脆弱性はどのバージョンで直る？`,
      zh: (v) => `${v.pkg} 有漏洞吗，哪个版本是安全的？`,
    },
  },
  {
    command: (v) => ['git', 'bisect', 'run', `test/${v.service}.sh`],
    output: (v) =>
      `${v.hash}${v.hash} is the first bad commit\ncommit ${v.hash}${v.hash}\nAuthor: dev <dev@example.com>\n\n    ${v.service}: switch ${v.field} to lazy loading\n\n ${v.file} | ${v.line % 40} +++---`,
    ask: {
      en: (v) => `Which commit did git bisect blame for ${v.service}?`,
      ja: (v) => `${v.service} の git bisect で見つかったコミットは？`,
      zh: (v) => `${v.service} 用 git bisect 找到的是哪个提交？`,
    },
  },
  {
    command: (v) => ['psql', '-c', `explain analyze select * from ${v.table} where ${v.field} = 7`],
    output: (v) =>
      `Seq Scan on ${v.table}  (cost=0.00..${v.port}.00 rows=1 width=${v.line}) (actual time=${v.a}.1..${v.b}.7 rows=1 loops=1)\n  Filter: (${v.field} = 7)\n  Rows Removed by Filter: ${v.port}21\nPlanning Time: 0.${v.line % 90} ms`,
    ask: {
      en: (v) => `What was the query plan on ${v.table} by ${v.field}?`,
      ja: (v) => `${v.table} を ${v.field} で引いたときの実行計画は？`,
      zh: (v) => `${v.table} 按 ${v.field} 查询的执行计划是什么？`,
    },
  },
]

export const NAMES = {
  service: [
    'orders',
    'catalog',
    'ledger',
    'gateway',
    'profile',
    'shipping',
    'pricing',
    'notify',
    'reviews',
    'coupons',
    'returns',
    'loyalty',
  ],
  field: [
    'customer',
    'items',
    'expiresAt',
    'locale',
    'quantity',
    'currency',
    'parentId',
    'status',
    'address',
    'discount',
    'owner',
    'tags',
  ],
  user: ['app_rw', 'reporting', 'migrator', 'readonly', 'batch', 'exporter', 'auditor', 'sync_bot'],
  pkg: [
    'tiny-cache',
    'fast-xml-walk',
    'retry-plus',
    'left-merge',
    'query-kit',
    'image-shrink',
    'form-rules',
    'date-span',
    'tree-diff',
    'mini-router',
    'chart-lite',
    'zip-stream-x',
  ],
  table: [
    'orders',
    'order_items',
    'customers',
    'payments',
    'shipments',
    'coupons',
    'sessions',
    'audit_events',
    'stock_levels',
    'price_rules',
  ],
  path: [
    'orders',
    'orders/search',
    'customers',
    'checkout',
    'prices',
    'stock',
    'reviews',
    'returns',
    'coupons',
    'profile',
    'login',
    'export',
  ],
}
