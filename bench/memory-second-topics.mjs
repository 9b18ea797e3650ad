/**
 * What the sessions of the second set of questions are about: other components, other problems and other words than in
 * memory-topics.mjs. `{c}` stands for the component.
 */

/** Names in English, Japanese and Chinese; the folder of each. */
export const AREAS = [
  ['terraform modules', 'Terraform モジュール', 'Terraform 模块', 'infra/terraform'],
  ['onboarding screen', '初回起動の画面', '新手引导页', 'app/onboarding'],
  ['recommendation model', 'おすすめのモデル', '推荐模型', 'ml/recommend'],
  ['push notifications', 'プッシュ通知', '推送服务', 'app/push'],
  ['event pipeline', 'イベント収集', '埋点管道', 'data/events'],
  ['feature flags', '機能フラグ', '功能开关', 'src/flags'],
  ['map view', '地図表示', '地图页面', 'app/map'],
  ['release script', 'リリース用スクリプト', '发布脚本', 'tools/release'],
  ['partner API', '提携先 API', '合作方接口', 'src/partner'],
  ['translation files', '翻訳ファイル', '翻译文件', 'locales'],
]

/** Each: what is asked for, what was found, what was done; then questions of somebody who remembers the matter only. */
export const MATTERS = [
  {
    en: {
      say: 'Nothing happens when I press the button in {c}. There is no message either.',
      told: [
        'The promise is rejected and an empty catch block swallows it.',
        'I removed the empty catch and show a toast with the reason.',
      ],
      ask: ['Why did {c} fail silently?', 'What hid the exception in {c}?'],
    },
    ja: {
      say: '{c} のボタンを押しても何も起きません。メッセージも出ません。',
      told: [
        'Promise が拒否され、空の catch が握りつぶしています。',
        '空の catch を消し、理由をトーストで出すようにしました。',
      ],
      ask: ['{c} が黙って失敗していた理由は？', '{c} で例外が見えなかったのはなぜ？'],
    },
    zh: {
      say: '{c} 里点按钮没有反应，也没有任何提示。',
      told: ['Promise 被拒绝，空的 catch 把它吞掉了。', '我删掉了空的 catch，并弹出提示说明原因。'],
      ask: ['{c} 为什么失败了却不报错？', '{c} 的异常是在哪里被吃掉的？'],
    },
  },
  {
    en: {
      say: 'The build of {c} takes 25 minutes on the runners. Can it be shorter?',
      told: [
        'Every run installs all packages and compiles from nothing, because no cache key matches.',
        'I keyed the cache by the lock file and split the work into four shards. It takes six minutes.',
      ],
      ask: ['How did we reduce the CI time of {c}?', 'What made builds of {c} so long?'],
    },
    ja: {
      say: '{c} のビルドに 25 分かかります。短くできますか。',
      told: [
        'キャッシュのキーが一致せず、毎回すべてのパッケージを入れ直しています。',
        'ロックファイルをキーにし、四つに分けて並列にしました。六分で終わります。',
      ],
      ask: ['{c} のビルド時間をどう短縮した？', '{c} の CI が長かった原因は？'],
    },
    zh: {
      say: '{c} 的构建要 25 分钟，能不能短一点？',
      told: ['缓存键总是不匹配，每次都重新安装所有依赖。', '我用锁文件当缓存键，再分成四份并行，现在六分钟。'],
      ask: ['{c} 的构建时间是怎么缩短的？', '{c} 的 CI 为什么那么久？'],
    },
  },
  {
    en: {
      say: 'Which tool should draw the graphs of {c}? The current one weighs 900 KB.',
      told: [
        'uPlot has 45 KB and draws 100,000 points; ECharts has more kinds, which we do not use.',
        'We take uPlot. If we need maps later, we look again.',
      ],
      ask: ['Which chart library did we pick for {c}?', 'Why not ECharts in {c}?'],
    },
    ja: {
      say: '{c} のグラフは何で描くべきですか。今のものは 900 KB あります。',
      told: [
        'uPlot は 45 KB で十万点を描けます。ECharts は種類が多いですが使いません。',
        'uPlot にします。地図が要るならまた検討します。',
      ],
      ask: ['{c} のチャートのライブラリーは何を選んだ？', '{c} で ECharts にしなかった理由は？'],
    },
    zh: {
      say: '{c} 的图表用什么画？现在这个有 900 KB。',
      told: ['uPlot 只有 45 KB，能画十万个点；ECharts 种类多，但我们用不到。', '就用 uPlot，以后需要地图再看。'],
      ask: ['{c} 选了哪个图表库？', '{c} 为什么没用 ECharts？'],
    },
  },
  {
    en: {
      say: 'After the certificate was renewed, phones cannot reach {c}. Browsers can.',
      told: [
        'The server sends only the leaf; browsers fetch the intermediate, the phones do not.',
        'I configured fullchain.pem and added a check with openssl to the renewal job.',
      ],
      ask: ['What was the TLS problem of {c} on mobile?', 'Why could phones not connect to {c}?'],
    },
    ja: {
      say: '証明書の更新後、スマートフォンから {c} につながりません。ブラウザーはつながります。',
      told: [
        'サーバーが末端の証明書しか送らず、端末は中間証明書を取りに行きません。',
        'fullchain.pem を設定し、更新ジョブに openssl の確認を足しました。',
      ],
      ask: ['モバイルで {c} の TLS が失敗していた理由は？', 'スマホから {c} に接続できなかった件はどう直した？'],
    },
    zh: {
      say: '证书更新之后手机连不上 {c}，浏览器可以。',
      told: [
        '服务器只发了叶子证书，浏览器会自己补中间证书，手机不会。',
        '改用 fullchain.pem，并在续期任务里加了 openssl 检查。',
      ],
      ask: ['{c} 在移动端的 TLS 问题是什么？', '手机为什么无法访问 {c}？'],
    },
  },
  {
    en: {
      say: 'Please agree with me on names: {c} has user, account, member and customer for one thing.',
      told: [
        'In the tables it is account; the other three came from old screens.',
        'Decided: account everywhere, member only for a person in a team. A lint rule rejects the rest.',
      ],
      ask: ['What naming convention did we settle on in {c}?', 'What do we call a person in a team in {c}?'],
    },
    ja: {
      say: '{c} では user、account、member、customer が同じ意味で使われています。名前を決めたいです。',
      told: [
        '表では account です。ほかの三つは古い画面の名残です。',
        'すべて account とし、チームの中の人だけ member と呼ぶことに決定。lint で縛ります。',
      ],
      ask: ['{c} の命名規則はどうなった？', '{c} でチームの人を何と呼ぶ？'],
    },
    zh: {
      say: '{c} 里 user、account、member、customer 指的是同一个东西，想统一名字。',
      told: [
        '表里叫 account，另外三个是旧页面留下的。',
        '决定：一律用 account，团队里的人才叫 member，用 lint 规则检查。',
      ],
      ask: ['{c} 的命名约定最后是什么？', '{c} 里团队成员叫什么？'],
    },
  },
  {
    en: {
      say: 'The bill for {c} doubled this month. Where does the money go?',
      told: [
        'Debug logs are kept for a year, 40 GB a day; the machines themselves are 12 percent.',
        'I set the log level to info and retention to 14 days. The forecast is 380 dollars.',
      ],
      ask: ['How did we cut the cloud cost of {c}?', 'How long do we keep the logs of {c}?'],
    },
    ja: {
      say: '今月、{c} の請求が倍になりました。何にかかっていますか。',
      told: [
        'デバッグログを一年残していて、一日 40 GB です。サーバーは 12 % だけです。',
        'ログレベルを info に、保持を 14 日にしました。見込みは 380 ドルです。',
      ],
      ask: ['{c} のクラウド費用をどう下げた？', '{c} のログは何日残す？'],
    },
    zh: {
      say: '这个月 {c} 的账单翻倍了，钱花在哪里？',
      told: ['调试日志保留一年，每天 40 GB，机器只占 12%。', '日志级别改成 info，只保留 14 天，预计 380 美元。'],
      ask: ['{c} 的云成本是怎么降下来的？', '{c} 的日志保存多久？'],
    },
  },
  {
    en: {
      say: '{c} crashes right after it is opened on old devices.',
      told: [
        'The stack trace points to structuredClone, which their engine does not have.',
        'I added a polyfill and raised the oldest supported version to 14.',
      ],
      ask: ['Why did {c} crash at launch?', 'Which is the minimum OS version for {c} now?'],
    },
    ja: {
      say: '古い端末で {c} を開くとすぐに落ちます。',
      told: [
        'スタックトレースは structuredClone を指していて、その環境にはありません。',
        'ポリフィルを入れ、対応する最低バージョンを 14 に上げました。',
      ],
      ask: ['{c} が起動直後にクラッシュした原因は？', '{c} がサポートする一番古い OS は？'],
    },
    zh: {
      say: '旧设备上一打开 {c} 就闪退。',
      told: ['堆栈指向 structuredClone，那个引擎里没有。', '加了 polyfill，最低支持版本提到 14。'],
      ask: ['{c} 启动时崩溃的原因是什么？', '{c} 现在最低支持哪个系统版本？'],
    },
  },
  {
    en: {
      say: 'Two people edit {c} at the same time and the second one overwrites the first.',
      told: [
        'The request carries the complete object and no revision.',
        'PUT now needs If-Match with the revision; on 412 the page offers to merge.',
      ],
      ask: ['How do we prevent lost updates in {c}?', 'How are concurrent changes handled in {c}?'],
    },
    ja: {
      say: '二人が {c} を同時に編集すると、後の人が前の人の変更を上書きします。',
      told: [
        '要求にオブジェクト全体が入り、リビジョンがありません。',
        'PUT に If-Match を必須とし、412 なら画面で統合を提案します。',
      ],
      ask: ['{c} の同時編集の衝突はどう扱う？', '{c} で変更が失われるのをどう防いだ？'],
    },
    zh: {
      say: '两个人同时编辑 {c}，后面的会覆盖前面的。',
      told: ['请求里带的是整个对象，没有版本号。', 'PUT 必须带 If-Match，遇到 412 时页面提示合并。'],
      ask: ['{c} 怎么处理并发修改？', '{c} 的更新丢失是怎么避免的？'],
    },
  },
  {
    en: {
      say: 'Screen readers say nothing useful in {c}. We must pass the audit in May.',
      told: [
        'Icons have no labels, focus is lost when the dialog closes, and grey on grey has a ratio of 2.9.',
        'I added aria-label, return the focus, and darkened the text to 4.8.',
      ],
      ask: ['What did we do for accessibility in {c}?', 'Which contrast does the text of {c} have now?'],
    },
    ja: {
      say: '{c} を読み上げソフトで使えません。五月の審査に通す必要があります。',
      told: [
        'アイコンにラベルがなく、ダイアログを閉じるとフォーカスが失われ、灰色の文字は 2.9 しかありません。',
        'aria-label を付け、フォーカスを戻し、文字を 4.8 まで濃くしました。',
      ],
      ask: ['{c} のアクセシビリティーのために何をした？', '{c} の文字のコントラスト比は今いくつ？'],
    },
    zh: {
      say: '{c} 用读屏软件完全没法用，五月要过审。',
      told: ['图标没有标签，关闭对话框后焦点丢失，灰字对比只有 2.9。', '加了 aria-label，焦点会还原，文字加深到 4.8。'],
      ask: ['{c} 的无障碍做了哪些改进？', '{c} 现在的文字对比度是多少？'],
    },
  },
  {
    en: {
      say: 'A key of {c} is in the public repository. What now?',
      told: [
        'It was pushed in a fixture three weeks ago and used twice from an unknown address.',
        'I revoked it, removed it from the history with filter-repo, and added a scan before each commit.',
      ],
      ask: [
        'What did we do about the leaked credential of {c}?',
        'How do we stop secrets from getting into git for {c}?',
      ],
    },
    ja: {
      say: '{c} の鍵が公開リポジトリーに入っています。どうすればいいですか。',
      told: [
        '三週間前にフィクスチャーと一緒に push され、知らないアドレスから二回使われました。',
        '無効にし、filter-repo で履歴から消し、コミット前の検査を加えました。',
      ],
      ask: ['{c} の認証情報が漏れた件の対応は？', '{c} で秘密が git に入るのをどう防ぐ？'],
    },
    zh: {
      say: '{c} 的密钥出现在公开仓库里，怎么办？',
      told: ['三周前随测试数据推上去的，被陌生地址用过两次。', '已吊销，用 filter-repo 从历史删除，并在提交前扫描。'],
      ask: ['{c} 凭证泄露之后做了什么？', '{c} 怎么防止密码进入 git？'],
    },
  },
]

/** Errors: what varies is in `v`. */
export const FAILURES = [
  (v) =>
    `panic: runtime error: index out of range [${v.a}] with length ${v.b}\n\ngoroutine 1 [running]:\nmain.${v.verb}${v.noun}(...)\n\t/build/${v.noun}.go:${v.line}`,
  (v) =>
    `java.lang.NullPointerException: Cannot invoke "${v.noun}.${v.verb}()" because "this.${v.field}" is null\n\tat com.example.${v.noun}Service.${v.verb}(${v.noun}Service.java:${v.line})`,
  (v) =>
    `Error: ENOENT: no such file or directory, open '/srv/data/${v.field}/${v.noun}.json'\n    at Object.openSync (node:fs:${v.line}:18)`,
  (v) =>
    `KeyError: '${v.field}'\n  File "/opt/jobs/${v.noun}.py", line ${v.line}, in ${v.verb}\n    return row['${v.field}']`,
  (v) => `src/${v.noun}.ts(${v.line},7): error TS2339: Property '${v.field}' does not exist on type '${v.noun}'.`,
]

/** Facts in output, with questions in the three languages. */
export const FACTS = [
  {
    command: (v) => ['du', '-sh', `/var/lib/${v.noun}`],
    output: (v) => `${v.a}G\t/var/lib/${v.noun}`,
    ask: [
      (v) => `How much disk does /var/lib/${v.noun} use?`,
      (v) => `/var/lib/${v.noun} の容量は？`,
      (v) => `/var/lib/${v.noun} 占多少磁盘？`,
    ],
  },
  {
    command: (v) => ['kubectl', 'get', 'pods', '-n', `${v.field}-${v.noun}`],
    output: (v) => `NAME READY STATUS RESTARTS\n${v.noun}-${v.a} 0/1 CrashLoopBackOff ${v.b}`,
    ask: [
      (v) => `How often did the pods in ${v.field}-${v.noun} restart?`,
      (v) => `${v.field}-${v.noun} の Pod は何回再起動した？`,
      (v) => `${v.field}-${v.noun} 的 Pod 重启了几次？`,
    ],
  },
  {
    command: (v) => ['hyperfine', `bin/${v.verb}-${v.noun}`],
    output: (v) =>
      `Benchmark 1: bin/${v.verb}-${v.noun}\n  Time (mean): ${v.a}.4 ms\n  Range (min … max): ${v.a}.1 ms … ${v.b}.9 ms`,
    ask: [
      (v) => `How fast was ${v.verb}-${v.noun} in the benchmark?`,
      (v) => `${v.verb}-${v.noun} のベンチマークの結果は？`,
      (v) => `${v.verb}-${v.noun} 的基准测试结果？`,
    ],
  },
]

export const WORDS = {
  noun: ['Account', 'Basket', 'Parcel', 'Tariff', 'Voucher', 'Ticket', 'Invoice', 'Route', 'Sensor', 'Playlist'],
  verb: ['load', 'merge', 'publish', 'resolve', 'encode', 'rotate', 'collect', 'verify'],
  field: ['region', 'balance', 'deadline', 'weight', 'channel', 'origin', 'version', 'signature'],
}

/** What is said in every session. */
export const TALK = {
  en: {
    before: ['Have a look at {c} and tell me what it does.', 'Update the docs of {c}.'],
    after: ['Good. Push it.', 'And the tests?'],
    answer: ['Done, everything is green.', 'It reads the settings and passes them on.'],
  },
  ja: {
    before: ['{c} を見て、何をするものか教えてください。', '{c} の文書を更新してください。'],
    after: ['よし、push して。', 'テストは？'],
    answer: ['できました。すべて成功です。', '設定を読んで渡しています。'],
  },
  zh: {
    before: ['看一下 {c} 是做什么的。', '更新 {c} 的文档。'],
    after: ['好，推上去。', '测试呢？'],
    answer: ['好了，全部通过。', '它读取设置再传下去。'],
  },
}
