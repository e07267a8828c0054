/** "Not found", as titles and first headings of error pages say it. */
const NOT_FOUND: readonly RegExp[] = [
  /^(?:error|http|status)?\s*404\s*(?:$|[-–—:|!.,(])/i,
  /\b(?:error|http|code|fehler|erreur|erro|errore|fout|błąd|ошибка)\s*:?\s*404\b/i,
  /\b404\s*(?:error|page|not\s+found)\b/i,
  /\b(?:page|file|document|article|product|content|resource|site|url)\s+(?:was\s+|is\s+|could\s+|can(?:not|['’]t)\s+)?(?:be\s+)?(?:not\s+(?:be\s+)?)?found$/i,
  /^(?:sorry,?\s*)?(?:page\s+|file\s+|nothing\s+)?(?:was\s+|were\s+)?not\s+found\b/i,
  /\bpage\s+(?:was\s+|is\s+|could\s+|can)?\s*not\s+(?:be\s+)?found\b/i,
  /\bpage\s+(?:does\s*n[o'’]t|doesn['’]t|does\s+not|no\s+longer)\s+exists?\b/i,
  /\b(?:page|product|listing|job|offer|item)\s+(?:is\s+)?no\s+longer\s+available\b/i,
  /\b(?:seite|datei|artikel|produkt)\s+(?:wurde\s+|konnte\s+)?(?:leider\s+)?nicht\s+gefunden\b/i,
  /\bseite\s+existiert\s+nicht\b/i,
  /\bpage\s+(?:introuvable|non\s+trouvée|inexistante)\b/i,
  /\bp[áa]gina\s+(?:no\s+(?:encontrada|existe|disponible)|n[ãa]o\s+(?:encontrada|existe))\b/i,
  /\bpagina\s+(?:non\s+trovata|inesistente|niet\s+gevonden)\b/i,
  /\b(?:siden|sidan)\s+(?:blev\s+|ble\s+)?(?:ikke\s+f[ui]nn?d?[et]t?|hittades\s+inte|finns\s+inte|findes\s+ikke|finnes\s+ikke)/i,
  /strona?\s+nie\s+(?:została\s+znaleziona|istnieje)|nie\s+znaleziono\s+strony/i,
  /страниц[аы]\s+не\s+(?:найдена|существует)|сторінк[аи]\s+не\s+(?:знайдено|існує)/i,
  /sayfa\s+bulunamadı|stránka\s+(?:nenalezena|nebyla\s+nalezena|neexistuje)|sivua\s+ei\s+löytynyt/i,
  /az\s+oldal\s+nem\s+található|pagina\s+nu\s+a\s+fost\s+găsită|η\s+σελίδα\s+δεν\s+βρέθηκε/i,
  /halaman\s+tidak\s+ditemukan|không\s+tìm\s+thấy\s+trang|ไม่พบหน้า|الصفحة\s+غير\s+موجودة|הדף\s+לא\s+נמצא/i,
  /ページが?(?:見つかりません|存在しません)|お探しのページ|页面不存在|頁面不存在|找不到(?:页面|頁面|网页|網頁|该页|您)|페이지를\s*찾을\s*수\s*없/,
];

/** Longer texts are sentences, not announcements. */
const MAX_ANNOUNCEMENT = 120;

export function saysNotFound(text: string): boolean {
  const announced = text.trim();
  if (announced === '' || announced.length > MAX_ANNOUNCEMENT) return false;
  return NOT_FOUND.some((phrase) => phrase.test(announced));
}

const LOGIN_PATH = /(?:^|[/_-])(?:log-?in|sign-?in|signon|sso|authenticate|sessions?\/new)(?:[/_.-]|$)/i;
const RETURN_PARAMETER =
  /[?&](?:next|return|return_?(?:to|url)|redirect|redirect_?(?:to|ur[il])|continue|dest|destination|service)=/i;
const PASSWORD_FIELD = /type\s*=\s*["']?password\b/i;

/** Whether a request for `url` was led to a form where one logs in. */
export function wasLedToLogin(url: string, finalUrl: string, html: string): boolean {
  if (url === finalUrl || !isLoginUrl(finalUrl) || isLoginUrl(url)) return false;
  return RETURN_PARAMETER.test(finalUrl) || PASSWORD_FIELD.test(html);
}

export function isLoginUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null && (LOGIN_PATH.test(parsed.pathname) || /^(?:login|signin|sso)\./i.test(parsed.hostname))
  );
}

const SCRIPTS_WANTED =
  /\b(?:enable|activate|turn\s+on|allow|requires?|needs?|without|aktivieren|benötigt|activer|activez|habilit\w+|activ[ae]\w*|abilit\w+|attiv\w+|schakel|włącz|включите|etkinleştir)\b[^.!?]{0,60}\bjava\s?script|\bjava\s?script\b[^.!?]{0,60}\b(?:enabled?|required?|disabled|turned\s+off|activated?|needed|aktivier\w+|erforderlich|deaktiviert|activé|désactivé|requis|nécessaire|habilitado|activado|necesario|ativado|abilitato|attivo|ingeschakeld|vereist|włączon\w+)|включ\w+\s+java\s?script|javascript\s?(?:を有効|已禁用|未启用)|启用\s?java\s?script|開啟\s?java\s?script/i;
/** What scripts add to a page that is there without them. */
const ADDED_BY_SCRIPTS =
  /\b(?:comments?|disqus|kommentare|map|chat|video|player|this\s+e-?mail|full\s+functionality|best\s+experience|some\s+features)\b/i;

/** Whether a text tells visitors that the page is not there without scripts. */
export function asksForScripts(text: string): boolean {
  return text !== '' && text.length <= 600 && SCRIPTS_WANTED.test(text) && !ADDED_BY_SCRIPTS.test(text);
}

/** As whole titles or first headings of pages that want to know whether a person is there. */
const HUMAN_WANTED =
  /^(?:are\s+you\s+(?:a\s+)?(?:human|robot)|robot\s+or\s+human|robot\s+check|human\s+verification|bot\s+verification|security\s+(?:check|verification|challenge)|just\s+a\s+moment|verify(?:ing)?\s+(?:that\s+)?you\s+are\s+(?:a\s+)?(?:human|not\s+a\s+robot)|please\s+verify\s+(?:that\s+)?you\s+are\s+(?:a\s+)?human|checking\s+your\s+browser(?:\s+before\s+accessing.{0,60})?|attention\s+required!?(?:\s*\|\s*cloudflare)?|ddos[\s-]protection.{0,30}|sicherheitsprüfung|vérification\s+de\s+sécurité|captcha)\s*[.?!…]*$/i;
const SHUT_OUT =
  /\b(?:access\s+(?:to\s+this\s+(?:page|site|website)\s+)?(?:has\s+been\s+)?(?:denied|blocked|restricted)|you\s+have\s+been\s+blocked|your\s+(?:ip|request|access)(?:\s+address)?\s+(?:has\s+been|was|is)\s+(?:temporarily\s+)?(?:blocked|banned|denied)|unusual\s+(?:traffic|activity)|automated\s+(?:access|requests?|traffic)|bot\s+(?:detected|traffic)|suspicious\s+activity|pardon\s+our\s+interruption|zugriff\s+verweigert|accès\s+refusé|acceso\s+denegado)\b/i;
const MAX_HEADLINE = 120;

/** Whether a title or heading asks for a person. */
export function asksForHuman(text: string): boolean {
  const said = text.trim();
  return said.length <= MAX_HEADLINE && HUMAN_WANTED.test(said);
}

/** Whether the title or heading of an error page says that the visitor, and not the page, is unwanted. */
export function shutsOut(text: string): boolean {
  const said = text.trim();
  return said.length <= MAX_HEADLINE && (SHUT_OUT.test(said) || HUMAN_WANTED.test(said));
}

const LOGIN_HEADLINE =
  /^(?:(?:please\s+)?(?:log\s?in|sign\s?in)(?:\s+(?:to|with|required|page|or\s+(?:register|sign\s?up)).{0,50})?|(?:user|member|customer|account)?\s*login|login\s+required|you\s+(?:must|need\s+to)\s+(?:be\s+logged\s+in|log\s?in|sign\s?in).{0,60}|anmeld(?:en|ung)|einloggen|connexion|se\s+connecter|iniciar\s+sesión|acceder|accedi|inloggen|entrar|zaloguj\s+się|logowanie|вход|войти|giriş\s+yap|ログイン|登录|登錄|로그인)\s*(?:$|[-–—:|·!.])/i;

/** Whether a title or heading is that of a form where one logs in. */
export function asksForLogin(text: string): boolean {
  const said = text.trim();
  return said.length <= MAX_HEADLINE && LOGIN_HEADLINE.test(said);
}
