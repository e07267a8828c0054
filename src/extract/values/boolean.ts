import { fold, lowerInPlace } from './fold.ts';

const TRUE =
  'true,yes,y,1,on,ja,j,oui,o,si,sí,sì,sim,tak,ano,да,так,evet,ναι,igen,da,kyllä,はい,是,有,예,네,نعم,כן,हाँ,हां,ใช่,có,ya,wahr,vrai,verdadero,vero,verdadeiro,waar,prawda,истина,✓,✔,✔️,☑,✅';
const FALSE =
  'false,no,n,0,off,nein,non,não,nao,nee,nie,ne,нет,ні,hayır,όχι,nem,nu,nej,nei,ei,いいえ,否,无,無,아니요,아니오,لا,לא,नहीं,ไม่,không,tidak,falsch,faux,falso,onwaar,fałsz,ложь,✗,✘,✕,☒,❌';

const VALUES: ReadonlyMap<string, boolean> = new Map([
  ...TRUE.split(',').map((word) => [word, true] as const),
  ...FALSE.split(',').map((word) => [word, false] as const),
]);

/** Yes or no in words, digits or signs; null for anything else. */
export function parseBoolean(text: string): boolean | null {
  const key = lowerInPlace(fold(text, 40)).replace(/[.!]+$/, '');
  return VALUES.get(key) ?? null;
}
