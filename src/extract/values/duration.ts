import { numeralAt } from './number.ts';
import { fold, lowerInPlace, PhraseTable } from './text.ts';

/** A length of time. */
export interface Duration {
  /** ISO 8601 as written in units; what is longer than a day stays in the units it was said in. */
  readonly iso: string;
  /** Months count 30 days and years 365. */
  readonly seconds: number;
}

const SECONDS = {
  year: 31_536_000,
  month: 2_592_000,
  week: 604_800,
  day: 86_400,
  hour: 3_600,
  minute: 60,
  second: 1,
};
type Unit = keyof typeof SECONDS;

const WORDS: Readonly<Record<Unit, string>> = {
  year: 'year,years,yr,yrs,y,jahr,jahre,jahren,an,ans,année,années,año,años,anno,anni,ano,anos,jaar,rok,lata,lat,roky,let,år,vuosi,vuotta,год,года,лет,рік,роки,років,év,ani,yıl,έτη,χρόνια,年,년,سنة,سنوات,שנה,שנים,वर्ष,साल,ปี,năm,tahun',
  month:
    'month,months,mo,mos,monat,monate,monaten,mois,mes,meses,mese,mesi,mês,maand,maanden,miesiąc,miesiące,miesięcy,měsíc,měsíce,měsíců,månad,månader,måned,måneder,kuukausi,kuukautta,kk,месяц,месяца,месяцев,місяць,місяці,місяців,hónap,lună,luni,ay,μήνας,μήνες,ヶ月,か月,カ月,个月,個月,개월,شهر,أشهر,חודש,חודשים,महीना,महीने,เดือน,tháng,bulan',
  week: 'week,weeks,wk,wks,w,woche,wochen,semaine,semaines,semana,semanas,settimana,settimane,weken,tydzień,tygodnie,tygodni,týden,týdny,týdnů,vecka,veckor,uge,uger,uke,uker,viikko,viikkoa,неделя,недели,недель,тиждень,тижні,тижнів,hét,săptămână,săptămâni,hafta,εβδομάδα,εβδομάδες,週間,週,周,주,أسبوع,أسابيع,שבוע,שבועות,सप्ताह,สัปดาห์,tuần,minggu',
  day: 'day,days,d,tag,tage,tagen,jour,jours,j,día,días,dia,dias,giorno,giorni,dag,dagen,dagar,dage,dager,dzień,dni,den,dny,dnů,päivä,päivää,pv,день,дня,дней,дні,днів,nap,zi,zile,gün,ημέρα,ημέρες,日間,日,天,일,يوم,أيام,יום,ימים,दिन,วัน,ngày,hari',
  hour: 'hour,hours,hr,hrs,h,stunde,stunden,std,heure,heures,hora,horas,ora,ore,uur,uren,godzina,godziny,godzin,godz,hodina,hodiny,hodin,hod,timme,timmar,tim,time,timer,tunti,tuntia,t,час,часа,часов,ч,година,години,годин,год.,óra,oră,ore,saat,sa,ώρα,ώρες,時間,小时,小時,시간,ساعة,ساعات,שעה,שעות,घंटा,घंटे,ชั่วโมง,giờ,jam',
  minute:
    'minute,minutes,min,mins,m,minuten,minuto,minutos,minuti,minuut,minuta,minuty,minut,minuter,minutter,minuutti,minuuttia,минута,минуты,минут,мин,хвилина,хвилини,хвилин,хв,perc,p,dakika,dk,λεπτό,λεπτά,分間,分钟,分鐘,分,분,دقيقة,دقائق,דקה,דקות,मिनट,นาที,phút,menit',
  second:
    'second,seconds,sec,secs,s,sekunde,sekunden,sek,seconde,secondes,segundo,segundos,secondo,secondi,seconden,sekunda,sekundy,sekund,sekunder,sekunti,sekuntia,секунда,секунды,секунд,сек,с,másodperc,mp,secundă,secunde,saniye,sn,δευτερόλεπτα,秒間,秒钟,秒,초,ثانية,ثوان,שנייה,שניות,सेकंड,วินาที,giây,detik',
};

const UNITS = new PhraseTable<Unit>(
  (Object.keys(WORDS) as Unit[]).flatMap((unit) =>
    (WORDS[unit] ?? '').split(',').map((word) => [word, unit] as const),
  ),
);
const ISO =
  /^p(?=[\dt])(?:(\d{1,6}(?:[.,]\d{1,6})?)y)?(?:(\d{1,6}(?:[.,]\d{1,6})?)m)?(?:(\d{1,6}(?:[.,]\d{1,6})?)w)?(?:(\d{1,6}(?:[.,]\d{1,6})?)d)?(?:t(?=\d)(?:(\d{1,9}(?:[.,]\d{1,6})?)h)?(?:(\d{1,9}(?:[.,]\d{1,6})?)m)?(?:(\d{1,9}(?:[.,]\d{1,6})?)s)?)?$/;
const CLOCK = /^(\d{1,3}):([0-5]\d)(?::([0-5]\d))?$/;
const ORDER: readonly Unit[] = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'];

type Amounts = Partial<Record<Unit, number>>;

function durationOf(amounts: Amounts): Duration {
  const shown = (unit: Unit, letter: string): string =>
    amounts[unit] === undefined || amounts[unit] === 0 ? '' : `${amounts[unit]}${letter}`;
  const date = shown('year', 'Y') + shown('month', 'M') + shown('week', 'W') + shown('day', 'D');
  const time = shown('hour', 'H') + shown('minute', 'M') + shown('second', 'S');
  const seconds = ORDER.reduce((sum, unit) => sum + (amounts[unit] ?? 0) * SECONDS[unit], 0);
  const iso = `P${date}${time === '' ? '' : `T${time}`}`;
  return { iso: iso === 'P' ? 'PT0S' : iso, seconds: Number(seconds.toPrecision(12)) };
}

/** Reads ISO 8601 (`PT1H30M`), clocks (`1:30:00`) and words in two dozen languages (`1 Std. 30 Min.`); null for the rest. */
export function parseDuration(text: string): Duration | null {
  const lower = lowerInPlace(fold(text, 200));
  const iso = ISO.exec(lower);
  if (iso !== null) {
    const parts = iso.slice(1);
    if (parts.every((part) => part === undefined)) return null;
    return durationOf(
      Object.fromEntries(
        ORDER.flatMap((unit, index) => {
          const part = parts[index];
          return part === undefined ? [] : [[unit, Number(part.replace(',', '.'))]];
        }),
      ),
    );
  }
  const clock = CLOCK.exec(lower);
  if (clock !== null) return readClock(clock);
  return readWords(lower);
}

/** Two parts are minutes and seconds, as players show them. */
function readClock([, first, second, third]: RegExpExecArray): Duration {
  return third === undefined
    ? durationOf({ minute: Number(first), second: Number(second) })
    : durationOf({ hour: Number(first), minute: Number(second), second: Number(third) });
}

function readWords(lower: string): Duration | null {
  const amounts: Amounts = {};
  let at = 0;
  let last: Unit | null = null;
  while (at < lower.length) {
    const numeral = numeralAt(lower, at);
    if (numeral === null) {
      at++;
      continue;
    }
    const start = lower[numeral.end] === ' ' ? numeral.end + 1 : numeral.end;
    const unit = UNITS.at(lower, start);
    at = unit?.end ?? numeral.end;
    const value = (numeral.readings.at(-1) ?? numeral.readings[0]).value;
    // 1h30: what stands behind an hour without a unit are minutes.
    const meant: Unit | null = unit?.value ?? (last === 'hour' && numeral.isPlain ? 'minute' : null);
    if (meant === null || amounts[meant] !== undefined) continue;
    amounts[meant] = value;
    last = meant;
  }
  return last === null ? null : durationOf(amounts);
}
