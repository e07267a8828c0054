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

function isLoginUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null && (LOGIN_PATH.test(parsed.pathname) || /^(?:login|signin|sso)\./i.test(parsed.hostname))
  );
}
