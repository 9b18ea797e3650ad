/**
 * Words of software work that mean nearly the same, or that usually are in one another's answer: who asks why something
 * was slow, finds a talk about latency. Also across languages.
 *
 * A line is a group: words of English, then of Japanese, then of Chinese. English words stand for all their forms.
 */
import { formsOf } from './word-forms.ts'

const GROUPS = `
slow fast speed latency performance quick faster accelerate optimize throughput | 遅い 遅く 遅延 速く 速度 高速 性能 レイテンシー | 提速 加速 延迟 性能 优化 变慢
memory heap leak ram oom grow | メモリー メモリ ヒープ リーク 解放 | 内存 泄漏 释放 占用
crash panic abort segfault killed freeze hang | クラッシュ 落ち 異常終了 固まる 停止 | 崩溃 闪退 卡死 卡住 挂掉
error exception failure fail fault throw | エラー 例外 失敗 障害 | 错误 异常 失败 报错
silent swallow hidden ignore suppress nothing empty | 黙って 握りつぶ 無視 何も起き 見えな 空の | 静默 吞掉 忽略 没有反应 吃掉 不报
retry resend repeat backoff attempt | 再送 再試行 リトライ やり直 | 重试 重发 重复
duplicate twice double idempotent repeat unique | 重複 二重 二回 二度 冪等 一意 | 重复 两遍 两次 幂等 唯一
deadlock lock mutex contention block wait acquire | デッドロック ロック 競合 排他 止め合 | 死锁 加锁 竞争 阻塞 互斥
race concurrent simultaneous parallel conflict overwrite lost | 同時 並行 並列 競合 衝突 上書き | 并发 并行 同时 冲突 覆盖 丢失
order sequence sort | 順番 順序 順に 並び | 顺序 排序 次序
timezone zone utc clock hours offset tokyo | タイムゾーン 時差 時刻 東京 日付 | 时区 时差 时刻 日期 东京
date day calendar time | 日付 日時 時刻 曜日 | 日期 时间 时刻 星期
encoding charset utf unicode garbled mojibake character accent umlaut emoji latin1 | 文字化け エンコーディング 文字コード 絵文字 化け | 乱码 编码 字符集 字符 表情
database table sql postgres mysql sqlite redis store persist | データベース 保存先 テーブル 格納 | 数据库 存储 持久化
query plan explain scan index seq | 実行計画 索引 インデックス クエリ 問い合わせ | 执行计划 索引 查询 扫描
n+1 round-trip join batch dataloader | 往復 結合 まとめて 行ごと | 往返 连接 批量 每一行
cache stale invalidate ttl expire | キャッシュ 期限 無効化 失効 | 缓存 过期 失效
network connection connect refuse timeout unreachable reach socket port | 接続 通信 つなが ネットワーク タイムアウト ポート | 连接 网络 超时 端口 连不上 访问
tls ssl certificate https x509 chain handshake | 証明書 暗号化通信 中間証明 | 证书 中间证书 握手
auth login authentication password signin session oauth | 認証 ログイン サインイン パスワード | 登录 认证 密码 鉴权
secret credential key token password leak revoke rotate expose public | 秘密 認証情報 トークン 漏えい 漏れ 公開 無効に 流出 | 密钥 凭证 令牌 泄露 密码 吊销 公开 机密
security vulnerability hole exploit cve attack advisory severity audit foreign pollution | 脆弱性 セキュリティ 攻撃 脆弱 見え | 漏洞 安全 攻击 越权 风险
permission access authorize role tenant isolate foreign owner | 権限 アクセス制御 テナント 分離 他社 他人 | 权限 越权 租户 隔离 访问控制 别人
upgrade update migrate migration major bump newer | 更新 移行 アップグレード 上げ 新しい バージョン | 升级 更新 迁移 升到 新版
version release pin lock support minimum oldest fixed | バージョン リリース 固定 対応 サポート 最低 | 版本 发布 固定 支持 最低
dependency package library module npm | 依存 ライブラリー ライブラリ パッケージ | 依赖 组件
break broke regression breaking incompatible rename | 壊れ 非互換 動かな 変わり | 破坏 不兼容 有问题 改名
deploy deployment rollout ship production live launch | デプロイ 本番 公開 配備 リリース | 部署 上线 生产 发布
rollback revert undo restore recover recovery back return | 戻す 復元 取り消し 元に戻 戻せ 復旧 | 回滚 撤销 恢复 撤回 还原 找回 退回
delete remove drop purge erase soft | 削除 消す 消し 論理削除 廃止 | 删除 删掉 移除 清理 误删 软删除
mistake wrong accident click misclick | 間違 誤操作 押し間違 誤り | 误操作 点错 错误
backup snapshot copy archive | バックアップ 控え スナップショット | 备份 快照 副本
test spec flaky random intermittent unstable sleep stable red | テスト 不安定 たまに 時々 落ち 安定 | 测试 不稳定 随机 偶发 稳定 偶尔
ci pipeline runner build workflow | ビルド ランナー パイプライン | 构建 流水线 编译
wait sleep poll event clock | 待つ 待ち 待機 イベント | 等待 轮询 事件
fixture sample mock bucket real production customer | 本番データ 顧客 実際 バケット フィクスチャー | 生产数据 真实 客户 生产
rule convention policy agree guideline style naming name | 決まり 規則 約束 規約 方針 命名 名前 呼ぶ | 规定 规则 约定 规范 命名 名字
decide decision choose chose pick select prefer reason rationale | 決定 決め 選ん 選定 理由 採用 経緯 | 决定 选用 原因 理由 采用 考虑
cause reason root | 原因 理由 要因 | 原因 造成
fix solve resolve repair correct remedy address | 直し 直す 修正 解消 対処 解決 対策 | 解决 修复 办法 处理
prevent avoid stop guard protect keep refuse reject | 防ぐ 防い 避け 守る 拒む 防止 | 防止 避免 保护 拒绝 阻止
reduce cut lower shrink shorten decrease less | 減らす 下げ 短縮 削減 抑え 小さく | 减少 降低 缩短 降下 节省
increase grow rise raise double | 増え 増加 上が 膨ら | 增加 升高 变大 上涨 翻倍
cost bill price money expensive spend budget | 費用 請求 料金 コスト 課金 金額 | 成本 账单 费用 价格 花费
log logging debug trace retention level | ログ 記録 保持 デバッグ | 日志 记录 保留 调试
retention keep days expire store long | 保持 残す 残し 期間 日間 | 保留 保存 期限
monitor metric alert dashboard graph observe | 監視 指標 アラート 計測 | 监控 指标 告警 报警
chart graph plot diagram draw visualize | グラフ チャート 描く | 图表 曲线 绘制
benchmark load test measure k6 hyperfine stress p95 | 負荷試験 ベンチマーク 計測 測定 | 压测 基准 负载 测量
disk space storage size capacity du | ディスク 容量 空き サイズ | 磁盘 容量 空间
restart reboot crashloop pod kubernetes container | 再起動 コンテナ 落ち | 重启 容器 崩溃
config setting option environment variable flag parameter | 設定 環境変数 変数 オプション | 设置 配置 变量 环境变量 选项
schedule cron job timer periodic nightly | 定期 ジョブ 夜間 スケジュール | 定时 任务 调度 夜间
queue message worker consumer event backlog | キュー 送信待ち ワーカー | 队列 消息 工作进程
mail email notification notify smtp | メール 通知 送信 | 邮件 通知 推送
upload download transfer file send | アップロード ダウンロード 送信 転送 | 上传 下载 传输 文件
import export parse csv excel spreadsheet | 取り込み 書き出し 読み込み 解析 | 导入 导出 解析 表格
search find suggest autocomplete index | 検索 候補 補完 | 搜索 查找 建议 补全
image picture photo thumbnail resize | 画像 写真 サムネイル 縮小 | 图片 缩略图 照片 缩放
pay payment billing invoice charge | 支払い 決済 課金 請求 | 支付 计费 付款 发票
user account member customer person team | 利用者 ユーザー アカウント 会員 顧客 | 用户 账户 成员 客户
phone mobile device android ios tablet | スマホ スマートフォン 端末 モバイル 携帯 | 手机 移动端 设备
screen page view layout display show | 画面 ページ 表示 | 页面 界面 显示
button click press tap dialog | ボタン 押し 押す クリック | 按钮 点击 弹窗
accessibility screen-reader aria focus contrast label wcag | アクセシビリティ 読み上げ コントラスト ラベル フォーカス | 无障碍 读屏 对比 标签 焦点
translate translation locale language i18n | 翻訳 言語 多言語 | 翻译 语言 多语言
open start launch boot startup begin | 起動 開く 開始 立ち上 | 启动 打开 开始
close end stop shutdown exit terminate | 終了 閉じ 停止 | 关闭 结束 停止 退出
merge rebase conflict branch commit bisect | マージ 統合 ブランチ コミット 衝突 | 合并 分支 提交 冲突
commit push repository history git | コミット リポジトリー リポジトリ 履歴 | 提交 仓库 历史
bug defect issue problem wrong broken | 不具合 バグ 問題 おかしい | 缺陷 问题 故障
null undefined missing none nil absent | 未定義 欠け 存在しない ない | 缺少 未定义 不存在
type schema field column property | 項目 プロパティ | 类型 字段 属性
refactor split rename clean restructure move | 分割 整理 書き直 移動 | 重构 拆分 整理 改名
document readme docs guide note explain | 文書 ドキュメント 説明 資料 | 文档 说明 资料
limit throttle quota rate cap maximum | 制限 上限 間引き 最大 | 限制 限流 上限 节流 最多
request response api endpoint http call | 要求 応答 リクエスト 呼び出し | 请求 响应 接口 调用
write save store persist record | 書き込 保存 書く 記録 | 写入 保存 记录
read load fetch receive | 読み込 取得 読む 受け取 | 读取 获取 加载
install setup provision terraform | インストール 導入 構築 | 安装 搭建 部署
safe validate check verify sanitize | 検証 確認 安全 検査 | 校验 验证 检查 安全
big large huge size small tiny | 大き 小さ 巨大 サイズ | 巨大 体积
random sometimes occasionally rarely intermittent | たまに 時々 ときどき まれに | 偶尔 有时 偶发 随机
old legacy outdated deprecated ancient | 古い 非推奨 | 过时 废弃
team colleague person people | チーム 担当 | 团队 成员 同事
`

/** Words of one group. */
export interface RelatedWords {
  /** Identifies the group. */
  readonly name: string
  readonly en: readonly string[]
  readonly ja: readonly string[]
  readonly zh: readonly string[]
}

const wordsOf = (part = ''): readonly string[] => part.split(' ').filter((word) => word !== '')

interface Groups {
  /** By the beginning that the forms of an English word share, or by the word itself in other languages. */
  readonly byWord: ReadonlyMap<string, readonly RelatedWords[]>
  readonly longest: number
}

let loaded: Groups | undefined

function load(): Groups {
  if (loaded) return loaded
  const byWord = new Map<string, RelatedWords[]>()
  let longest = 0
  for (const [number, line] of GROUPS.trim().split('\n').entries()) {
    const [en, ja, zh] = line.split('|')
    const group = { name: `${number}`, en: wordsOf(en), ja: wordsOf(ja), zh: wordsOf(zh) }
    for (const word of new Set([...group.en.map(stemOrWord), ...group.ja, ...group.zh])) {
      const list = byWord.get(word)
      if (list) list.push(group)
      else byWord.set(word, [group])
      if (word > '\u2e80') longest = Math.max(longest, word.length)
    }
  }
  loaded = { byWord, longest }
  return loaded
}

const stemOrWord = (word: string): string => formsOf(word)?.beginning ?? word

/** Groups of an English word in lower case. */
export const groupsOfWord = (word: string): readonly RelatedWords[] => load().byWord.get(stemOrWord(word)) ?? []

/** Groups of the words in a folded run of a script without spaces. */
export function groupsInRun(run: string): readonly RelatedWords[] {
  const { byWord, longest } = load()
  const found: RelatedWords[] = []
  for (let at = 0; at < run.length; ) {
    let length = Math.min(longest, run.length - at)
    while (length > 1 && !byWord.has(run.slice(at, at + length))) length--
    if (length > 1) found.push(...(byWord.get(run.slice(at, at + length)) ?? []))
    at += length > 1 ? length : 1
  }
  return found
}
