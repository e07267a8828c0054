import { placeKey } from './country-names.ts';

export interface Region {
  readonly name: string;
  readonly country: string;
}

/** States and provinces that are known by letters. */
const CODED: Readonly<Record<string, string>> = {
  US: 'AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming',
  CA: 'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon',
  AU: 'NSW New South Wales|VIC Victoria|QLD Queensland|WA Western Australia|SA South Australia|TAS Tasmania|ACT Australian Capital Territory|NT Northern Territory',
  BR: 'SP São Paulo|RJ Rio de Janeiro|MG Minas Gerais|RS Rio Grande do Sul|PR Paraná|SC Santa Catarina|BA Bahia|PE Pernambuco|CE Ceará|DF Distrito Federal|GO Goiás|ES Espírito Santo|AM Amazonas|PA Pará|MT Mato Grosso',
};

/** Regions known by name only, with their names in English and at home. */
const NAMED: Readonly<Record<string, string>> = {
  DE: 'Bavaria,Bayern,Baden-Württemberg,Berlin-Brandenburg,Brandenburg,Hesse,Hessen,Lower Saxony,Niedersachsen,Mecklenburg-Vorpommern,North Rhine-Westphalia,Nordrhein-Westfalen,NRW,Rhineland-Palatinate,Rheinland-Pfalz,Saarland,Saxony,Sachsen,Saxony-Anhalt,Sachsen-Anhalt,Schleswig-Holstein,Thuringia,Thüringen',
  AT: 'Tyrol,Tirol,Styria,Steiermark,Carinthia,Kärnten,Vorarlberg,Upper Austria,Oberösterreich,Lower Austria,Niederösterreich,Burgenland',
  FR: "Île-de-France,Ile-de-France,Provence-Alpes-Côte d’Azur,Provence-Alpes-Côte d'Azur,Auvergne-Rhône-Alpes,Occitanie,Nouvelle-Aquitaine,Bretagne,Brittany,Normandie,Normandy,Hauts-de-France,Grand Est,Pays de la Loire,Bourgogne-Franche-Comté,Centre-Val de Loire,Corse",
  ES: 'Andalusia,Andalucía,Catalonia,Cataluña,Catalunya,Community of Madrid,Comunidad de Madrid,Basque Country,País Vasco,Galicia,Castilla y León,Castilla-La Mancha,Comunidad Valenciana,Aragón,Asturias,Canarias,Islas Baleares,Extremadura,Navarra',
  IT: 'Lombardy,Lombardia,Lazio,Tuscany,Toscana,Piedmont,Piemonte,Veneto,Emilia-Romagna,Sicily,Sicilia,Campania,Apulia,Puglia,Liguria,Sardinia,Sardegna,Calabria,Umbria,Marche,Abruzzo',
  GB: 'Greater London,Greater Manchester,West Midlands,West Yorkshire,Kent,Essex,Surrey,Hampshire,Lancashire,Merseyside,Devon,Cornwall,Norfolk,Suffolk,Hertfordshire,Oxfordshire,Cambridgeshire',
  NL: 'North Holland,Noord-Holland,South Holland,Zuid-Holland,North Brabant,Noord-Brabant,Gelderland,Overijssel,Friesland,Drenthe,Flevoland,Zeeland',
  PL: 'Mazowieckie,Małopolskie,Śląskie,Dolnośląskie,Wielkopolskie,Pomorskie',
  IN: 'Maharashtra,Karnataka,Tamil Nadu,Telangana,Uttar Pradesh,West Bengal,Gujarat,Kerala,Rajasthan,Haryana,Punjab,Madhya Pradesh,Bihar,Andhra Pradesh,Odisha',
  CN: 'Guangdong,Zhejiang,Jiangsu,Sichuan,Hubei,Fujian,Shandong',
  MX: 'Jalisco,Nuevo León,Estado de México,Puebla,Yucatán,Quintana Roo',
};

const BY_CODE = new Map<string, Region[]>();
const BY_NAME = new Map<string, Region>();
for (const [country, rows] of Object.entries(CODED)) {
  for (const row of rows.split('|')) {
    const space = row.indexOf(' ');
    const [code, name] = [row.slice(0, space), row.slice(space + 1)];
    BY_CODE.set(code, [...(BY_CODE.get(code) ?? []), { name, country }]);
    if (!BY_NAME.has(placeKey(name))) BY_NAME.set(placeKey(name), { name, country });
  }
}
for (const [country, names] of Object.entries(NAMED)) {
  for (const name of names.split(',')) {
    if (!BY_NAME.has(placeKey(name))) BY_NAME.set(placeKey(name), { name, country });
  }
}

/** Regions with these letters, of all countries that have such. */
export const regionsCoded = (code: string): readonly Region[] => BY_CODE.get(code.trim()) ?? [];

export const regionNamed = (name: string): Region | null => BY_NAME.get(placeKey(name)) ?? null;
