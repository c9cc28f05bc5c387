import type { Choices } from './dice.js';

/** What stands between separators, of which there are none around the text. */
export function choices(text: string, separator: string | RegExp): Choices<string> {
  const [first = '', ...others] = text.trim().split(separator);
  return [first, ...others];
}

/** Each beginning with each end. */
function joined(starts: string, ends: string): string {
  const all = choices(starts, /\s+/).flatMap((start) => choices(ends, /\s+/).map((end) => start + end));
  return all.join(' ');
}

/**
 * The fictional words of names and descriptions, between spaces; an underscore stands for a space
 * within a word. Usernames have at most 20 characters and are unique, so adjectives, nouns and first
 * names have at most six letters, surnames eight, and no word of them is in two of the lists.
 */
const WORDS = {
  adjective: `
    amber ashen azure bold brave brisk bright calm cedar clever cobalt copper coral cosy crisp dapper
    dusky early faint fern fleet frosty gentle gilded glad golden grand hazel hidden hollow humble indigo
    ivory jade jolly keen kindly lively lunar maple mellow mild misty mossy nimble noble ochre olive
    opal pale proud quick quiet rapid rosy rustic sandy silent silver snowy solar spry sunny velvet`,
  noun: `
    anchor badger barley beacon birch bridge canyon castle cloud comet cove crane creek delta dune ember
    falcon ferry field finch forest fox garden gate glade grove haven heron hill island kettle kite
    lake lark lodge magpie marsh meadow mill moon orbit otter owl pebble pine planet pond quarry
    rabbit raven reef ridge river robin rocket shore star summit tower tulip turtle valley willow wren`,
  creature: `
    Badgers Bees Cranes Crows Dolphins Dragons Eagles Ferrets Finches Foxes Frogs Geese Giants Goblins
    Griffins Hedgehogs Hornets Knights Larks Magpies Moles Moths Nomads Otters Owls Penguins Pilots
    Pirates Puffins Ravens Robins Toads Turtles Wolves Yaks`,
  topic: `
    Academy Airlines Aquarium Archive Bakers Ballet Book_Club Brass_Band Bus_Company Cafe Chess_Club Circus
    City_Council Coast_Guard Comics Cooks Cycling Fan_Club Farmers Fire_Brigade Flying_Club Football_Club
    Gallery Gardeners Hospital Ice_Hockey Kart_Racing Library Market Metro Mountain_Rescue Museum Orchestra
    Parkour Police Post_Office Puzzlers Radio Railway Roleplay Rovers Sailing_Club School Skaters Theatre Zoo`,
  // What a group or a studio calls itself; one is often renamed to another
  tail: `
    Studio Workshop Guild Studios Society Club Crew Collective Games Community Union Productions League
    Lab Interactive Works Team Company Alliance Network Makers Group Squad Factory Foundation HQ Order`,
  thing: `
    Almanac Attic Balloon Barn Bazaar Biscuit Bookshop Bottle Carnival Castle Chimney Clockwork Comet
    Compass Cottage Crown Drum Express Ferry Festival Fortress Garage Garden Hideout Island Kettle Kingdom
    Kitchen Labyrinth Lagoon Lantern Lighthouse Locomotive Mansion Maze Mirror Mountain Orchard Parade
    Piano Pier Planet Pyramid Rocket Sandwich Shipyard Skyline Submarine Teapot Temple Volcano Windmill`,
  first: `
    Aiko Alina Amara Anton Aylin Bela Bruno Carla Chidi Dalia Dario Elif Emeka Enzo Farid Felix Freya
    Goran Hana Hugo Ilse Imani Ines Ivo Jamal Jonas Juno Kaito Kamil Karin Kofi Lars Leila Linh Lucia
    Mads Malik Marta Mateo Mei Mila Nadia Naoki Nia Noor Oskar Paola Petra Priya Rafael Rania Rosa Sami
    Sanna Selma Tariq Tomas Uma Vera Wanda Yusuf Zainab Zoe`,
  surname: `
    Abara Almeida Aydin Bakker Barros Brandt Castell Dvorak Eklund Farrow Ferreira Grimaldi Haddad Halvor
    Hartley Ibarra Ishida Jansen Kaplan Kowal Lind Maddox Marchand Mbeki Moreau Nakano Novak Okafor
    Paszek Quist Rahimi Rosales Sandoval Sato Tanaka Thorne Vasquez Verhoef Wexler Yilmaz Zamora`,
  syllable: `
    ba bri ca cor da dre el fa fen ga glo ha ir jo ka kel lo lu ma mir na nor o pel qua ra ri sa sel
    ta tor u va vel wi xa ya zen zo`,
  ending: 'bix cadia dra fex go kin la lix mo nar nix pia que ra rix sha tix tu via vo xis za zo',
  letter: 'A B C D E F G H J K L M N P R S T V W X Z',
  // What people append to a username: two digits, a year, and so on
  number: `007 101 123 404 777 909 1234 2004 2007 2009 2012 ${Array.from({ length: 98 }, (_, at) => at + 2).join(' ')}`,
  place: joined(
    `Alder Ash Black Bram Brook Cald Cold Corn Dun East Elm Fair Fen Glen Green Hart Hol Kings Lang Lin Marl
    Mid North Oak Old Pen Quill Raven Red Sand Shel Stan Thorn Wax West Whit Win Wood`,
    'beck borough bridge bury by combe dale field ford gate ham haven holm mere port stead ton wick',
  ),
  // Before the name of a place
  abroad: 'Los_Gatos_de Los_Faroles_de Amigos_de Les_Rêveurs_de Kleingärtner Schützen Odkrywcy Miłośnicy',
  // Russian: "… lovers" and "of the …", both in the genitive
  rulovers: 'друзей любителей мастеров строителей пилотов художников моряков садовников поваров гонщиков',
  ruplace: 'Северного_ветра Тихой_гавани Старой_мельницы Белой_башни Лунной_поляны Ясной_реки',
  japlace: '静かな灯台 北の港 月見坂 青い鳥 雨の町 猫の森 星降る丘 白い風車 夏の海 小さな駅 朝霧 風の谷口',
  jathing: 'の会 工房 同好会 制作部 倶楽部 研究所 商店街 団',
  koplace: '작은별 푸른숲 달빛마을 바람언덕 겨울바다 하얀등대 고양이골목 은하수 봄날 노을',
  kothing: '_공방 _모임 _스튜디오 _클럽 _탐험대 _연구소',
  arkind: 'نادي فريق رابطة مجتمع استوديو ورشة',
  arplace: 'الحديقة_الهادئة المنارة_القديمة النجوم_البعيدة البحر_الأزرق الجبل_الأبيض الصقور القمر_الصغير',
  hekind: 'מועדון קבוצת אולפן חברי קהילת',
  heplace: 'המגדל_השקט האור_הצפוני הכוכב_הקטן הגן_הסודי הים_הכחול הגשר_הישן הירח_המלא העיר_העתיקה',
};

const LISTS: ReadonlyMap<string, Choices<string>> = new Map(
  Object.entries(WORDS).map(([name, text]) => [name, choices(text, /\s+/)]),
);

/** The words of a gap: `noun`, `Noun` and `NOUN` are in small letters, with a capital, and in capitals. */
function wordsOf(gap: string): Choices<string> {
  const words = LISTS.get(gap.toLowerCase());
  if (words === undefined) throw new TypeError(`There is no list of words "${gap}"`);
  const styled = (underscored: string): string => {
    const word = underscored.replaceAll('_', ' ');
    if (gap === gap.toLowerCase()) return word.toLowerCase();
    return gap === gap.toUpperCase() ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
  };
  const [first, ...others] = words;
  return [styled(first), ...others.map(styled)];
}

/** The texts of the sample, taken apart at their gaps. */
const PARTS = new Map<string, readonly (string | Choices<string>)[]>();

/** One of the texts of the sample, such as `The {Adjective} {Creature}`, with a word in each gap. */
export function filled(text: string, pick: (words: Choices<string>) => string): string {
  const split = () => text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 0 ? part : wordsOf(part)));
  const parts = PARTS.get(text) ?? split();
  PARTS.set(text, parts);
  return parts.map((part) => (typeof part === 'string' ? part : pick(part))).join('');
}
