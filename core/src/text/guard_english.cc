// The built-in table: English. docs/guards.md says what each rule means.
#include "text/guard_table.h"

namespace dpcache::text {
namespace {

constexpr std::string_view kTable = R"table(
stem: english
# Words whose ending is not one.
whole: evening morning during nothing something everything anything king ring spring string thing
whole: wedding ceiling pudding being news always perhaps less business species series lens
whole: needed red bed feed seed speed need united states mars texas paris its his this thus

# --- Small words
article: the a an my your our their its this that these those his some any
function: and or but if then than as so because while though although since until unless whether
function: of in on at by for with from to into onto upon over under between among through about
function: against during within toward towards across along around near per via out up down off
function: is are am was were be been being it he him she her hers me us them mine yours ours theirs
function: itself himself herself myself yourself there here what which who whom whose when where why
function: how has had having does did do doing done ever yet just also too very really quite only
function: more most much many lot lots of even still already again now please tell note hi hello hey
function: thanks thank dear okay ok well oh yes yeah let lets such same other one ones way step
function: want need like get got getting give know show explain help wonder wondering question
function: actually basically simply exactly currently totally rather somewhat pretty anyway maybe
function: perhaps using use used usually generally etc kind sort possible able both each every all
function: i you we they something anything someone anyone somebody anybody thing things stuff
function: think believe guess suppose seem seems
function: absolutely indeed certainly particularly especially mainly mostly highly fully s x
subject: i you we they he she to can could will would shall should may might must please do does did
subject: let lets not never who always cannot gonna wanna
symmetric: and or nor & plus versus vs between both
particle: on off up down in out away back over
same: get receive obtain
function: best good

# --- Denial
negation: not no never none nobody nothing nowhere neither cannot without hardly barely scarcely
negation: seldom rarely no_longer not_at_all by_no_means no_one far_from anything_but in_no_way
negation: free_of devoid_of instead_of rather_than lack lacks lacked lacking absent absence
negation: fail fails failed failing failure refuse refuses refused yet_to short_of except excluding
negation: not_even nope nonexistent unheard unable missing prevent prevents prevented preventing
negation: avoid avoids avoided avoiding deny denies denied reject rejects rejected ban banned
negation: forbid forbids forbidden prohibit prohibits prohibited disqualified exempt omit omits omitted
negation: incapable refrain refrains refrained abstain abstained exemption barred disallowed excluded
negation: excludes without_any ineffective useless impossible unavailable unlikely unsuccessful
negation: unsuccessfully unrelated unsuitable untrustworthy unwilling uninterested insufficient
negation: inaccurate incorrect unnecessary unaware
limit: only solely exclusively merely almost nearly
plain: not_only only_if if_only only_just no_matter no_doubt or_not whether_or_not why_not not_just no_wonder no_problem
plain: not_to_mention not_merely if_not nothing_but no_less
answer: no nope
ceasing: stop quit cease
soft: stop cease quit decline end break broken wrong bad problem issue trouble error
soft: cancel disable lose block remove delete rid unlike disallow discourage

# --- Opposites. Words of one side are also taken for one another.
opposite: yes yeah yep | no nope
opposite: on | off
opposite: in inside into indoors within | out outside outdoors
opposite: up upward upwards | down downward downwards
opposite: to toward towards | from
opposite: with including | without excluding except
opposite: for | against
opposite: before until | after
opposite: before earlier previously prior | after later afterwards subsequently
opposite: above over | below under beneath underneath
opposite: left | right
opposite: right correct accurate proper | wrong incorrect inaccurate improper mistaken
opposite: right true | wrong false untrue untruthful
opposite: front ahead forward forwards | back behind backward backwards
opposite: top upper | bottom lower
opposite: near close nearby beside | far further distant away remote
opposite: open opened unlocked | close closed shut locked covert unreceptive
opposite: lock fasten | unlock unfasten
opposite: enable activate turn_on switch_on power_on | disable deactivate turn_off switch_off power_off
opposite: enable allow permit let authorize approve accept | disable forbid prohibit ban disallow block deny reject refuse
opposite: allow permit let enable | prevent stop hinder
opposite: allowed permitted legal lawful authorized | prohibited forbidden banned illegal unlawful
opposite: start begin commence launch initiate | stop end finish cease halt quit terminate conclude
opposite: start begin | fail
opposite: start resume continue proceed | stop pause halt discontinue suspend
opposite: start run boot | shut_down shutdown kill
opposite: open start launch | close quit
opposite: beginning start first initial opening | end last final ending closing
opposite: first earliest | last latest
opposite: increase raise grow expand rise rises rose risen climb gain boost escalate enlarge turn_up go_up | decrease reduce lower shrink decline drop fall falls fell fallen lessen diminish turn_down go_down
opposite: increase raise boost heighten strengthen | decrease reduce lower cut lessen weaken
opposite: louder loud | quieter quiet soft silent
opposite: more greater | less fewer
opposite: more extra additional | less
opposite: most | least
opposite: max maximum maximal most highest | min minimum minimal least lowest
opposite: maximize | minimize
opposite: many numerous several | few
opposite: much | little
opposite: at_least | at_most
opposite: high tall elevated | low short
opposite: higher highest | lower lowest
opposite: big large huge great giant enormous major big_deal | small little tiny minor
opposite: long lengthy | short brief
opposite: wide broad | narrow
opposite: thick fat | thin slim
opposite: deep | shallow
opposite: heavy | light
opposite: dark dim | light bright
opposite: fast quick rapid swift speedy | slow sluggish
opposite: early | late
opposite: new modern recent latest newest | old ancient outdated oldest worn
opposite: young youngest | old elderly oldest
opposite: hot warm | cold cool chilly freezing
opposite: heat warm | cool chill
opposite: wet damp moist | dry arid
opposite: clean tidy | dirty messy filthy
opposite: full filled | empty vacant
opposite: fill | empty drain
opposite: hard tough difficult challenging complicated complex | easy simple effortless manageable uneasy
opposite: hard firm solid | soft voiced
opposite: strong powerful robust | weak feeble fragile
opposite: rich wealthy | poor broke
opposite: cheap inexpensive affordable | expensive costly pricey
opposite: good great fine well excellent | bad poor evil terrible awful
opposite: good best better beneficial helpful positive | bad worst worse harmful negative
opposite: better improve improved | worse worsen worsened
opposite: best | worst
opposite: pro advantage benefit strength | con disadvantage drawback weakness
opposite: pros advantages benefits strengths | cons disadvantages drawbacks weaknesses
opposite: positive | negative
opposite: safe secure harmless | in_danger dangerous unsafe risky hazardous harmful out
opposite: safest | riskiest
opposite: healthy well fit | unhealthy sick ill
opposite: happy glad cheerful joyful euphoric | sad unhappy miserable
opposite: love like adore enjoy | hate dislike detest loathe
opposite: alive living live | dead
opposite: live | die
opposite: birth born | death died
opposite: true real genuine authentic actual | false fake untrue artificial bogus counterfeit nominal unreal
opposite: possible feasible | impossible actual infeasible
opposite: likely probable | unlikely improbable
opposite: certain sure confident positive | uncertain unsure doubtful
opposite: same identical equal | different other distinct unequal unlike
opposite: similar alike like | different dissimilar unlike
opposite: fair just | unfair foul unjust
opposite: guilty | innocent
opposite: important significant crucial essential big_deal | unimportant insignificant trivial noncrucial
opposite: necessary required mandatory compulsory | unnecessary optional voluntary needless
opposite: serious earnest | frivolous playful
opposite: normal ordinary usual typical | abnormal strange unusual odd paranormal rare atypical
opposite: common frequent ordinary widespread | rare uncommon scarce unusual
opposite: natural | artificial synthetic supernatural unnatural sharp
opposite: smart clever intelligent wise brilliant | stupid dumb foolish unintelligent
opposite: confident bold | shy timid
opposite: stay stayed remain | leave left
opposite: brave bold | cowardly afraid scared timid
opposite: afraid scared | unafraid fearless
opposite: polite courteous | rude impolite uncivil
opposite: kind nice gentle | cruel mean unkind nasty
opposite: ordinary | extraordinary
opposite: busy occupied | idle free available
opposite: active | inactive passive dormant extinct idle
opposite: available present | unavailable absent
opposite: present | absent missing
opposite: visible | invisible hidden
opposite: show display reveal unhide | hide conceal
opposite: public | private confidential
opposite: shared | private
opposite: legal lawful | illegal unlawful
opposite: logical coherent rational | illogical incoherent irrational
opposite: relevant | irrelevant
opposite: perfect flawless | imperfect flawed
opposite: clear obvious | unclear vague ambiguous cloudy opaque
opposite: familiar known | unfamiliar unknown strange
opposite: famous | unknown obscure
opposite: expected | unexpected surprising
opposite: breathing | breathless
opposite: personal | impersonal
opposite: ready prepared | unready unprepared
opposite: professional | amateur unprofessional
opposite: acceptable | unacceptable
opposite: bright brilliant | dull dim
opposite: sharp | blunt dull
opposite: smooth even | rough bumpy uneven
opposite: straight | curved crooked bent
opposite: tight | loose
opposite: tighten | loosen
opposite: sweet | bitter sour
opposite: raw uncooked | cooked
opposite: fresh | stale rotten
opposite: permanent lasting | temporary
opposite: permanent | temporary
opposite: fixed static constant stable | variable dynamic changing unstable
opposite: on_time punctual early | late delayed
opposite: hire hired employ | lay_off laid_off
opposite: ahead | behind
opposite: surpass exceed outperform | lag
opposite: supportive satisfied pleased happy | dissatisfied unsatisfied displeased unhappy
opposite: related connected linked | unrelated unconnected separate
opposite: edible | poisonous inedible
opposite: acquitted cleared | guilty convicted
opposite: automatic automatically | manual manually
opposite: online | offline
opposite: internal inner interior domestic | external outer exterior foreign
opposite: domestic national | international foreign
opposite: local | remote global
opposite: single | multiple double
opposite: single unmarried | married
opposite: individual independently alone separately | joint jointly together collectively
opposite: together | apart separately
opposite: whole complete entire total | partial part incomplete
opposite: complete finish | incomplete unfinished
opposite: also too | only
opposite: major | minor
opposite: majority | minority
opposite: senior | junior
opposite: adult | child kid minor
opposite: man men male boy husband gentleman | woman women female girl wife lady
opposite: he him his himself | she her hers herself
opposite: father dad | mother mom mum
opposite: son | daughter
opposite: brother | sister
opposite: uncle | aunt
opposite: king prince | queen princess
opposite: parent | child
opposite: teacher | student pupil
opposite: doctor | patient
opposite: buyer customer | seller vendor
opposite: landlord | tenant
opposite: employer | employee
opposite: sender | recipient receiver
opposite: client | server
opposite: host | guest
opposite: winner | loser
opposite: friend ally | enemy foe
opposite: hero | villain
opposite: day daytime | night nighttime
opposite: summer | winter
opposite: sunrise dawn | sunset dusk
opposite: north northern northernmost | south southern southernmost
opposite: east eastern easternmost | west western westernmost
opposite: past former previous last | future next upcoming latter
opposite: previous last | next following
opposite: old previous | new current
opposite: odd | even
opposite: buy bought purchase acquire order | sell sold sale
opposite: buy | rent
opposite: lend lent loan | borrow
opposite: send sent | receive get
opposite: send mail ship | return
opposite: give gave given grant provide offer | take took taken receive withhold
opposite: give | receive
opposite: push | pull
opposite: deposit | withdraw withdrawal
opposite: deposit add insert put | withdraw remove take_out
opposite: pay spend | earn save
opposite: save keep retain preserve store | delete remove discard erase destroy throw_away
opposite: save | waste spend
opposite: profit gain | loss lose
opposite: gain win won | lose lost
opposite: gain put_on | lose
opposite: win won | lose lost
opposite: victory | defeat
opposite: credit | debit
opposite: asset | liability
opposite: income revenue | expense expenditure
opposite: supply | demand
opposite: find found locate | lose lost
opposite: remember recall | forget forgot forgotten
opposite: learn | forget unlearn
opposite: teach | learn
opposite: ask question | answer reply respond
opposite: accept accepted agree approve approved | reject rejected refuse refused decline deny denied disagree disapprove
opposite: get receive obtain accept take | refuse decline reject
opposite: receive get obtain | send
opposite: agree | disagree
opposite: admit confess confirm | deny
opposite: confirm verify | deny cancel
opposite: approval acceptance | rejection denial refusal
opposite: succeed success successful successfully pass passed achieve | fail failure failed unsuccessful unsuccessfully
opposite: pass | fail
opposite: create make build construct add establish found form write generate | delete destroy remove demolish dismantle erase
opposite: add include insert append attach | remove delete exclude omit subtract detach drop
opposite: add | subtract
opposite: plus | minus
opposite: multiply | divide
opposite: addition | subtraction
opposite: include contain consist | exclude lack
opposite: contain | free_of lack
opposite: join enter arrive | leave exit depart
opposite: enter entrance entry | exit
opposite: join | leave quit
opposite: arrive arrival come came | leave left depart departure go went
opposite: stay remain | leave
opposite: come | go
opposite: ascend climb | descend
opposite: load | unload
opposite: charge | drain discharge
opposite: upload | download
opposite: import | export
opposite: install set_up | uninstall remove
opposite: subscribe sign_up | unsubscribe cancel
opposite: follow | unfollow
opposite: register enroll sign_up | unregister cancel withdraw
opposite: login log_in sign_in log_on log_into sign_into | logout log_out sign_out log_off
opposite: set schedule book make arrange | cancel unset
opposite: schedule book reserve | cancel
opposite: renew extend | cancel terminate
opposite: connect attach link plug_in | disconnect detach unlink unplug
opposite: mount | unmount
opposite: mute silence | unmute
opposite: encrypt encode | decrypt decode
opposite: compress zip | decompress extract unzip
opposite: wrap | unwrap
opposite: pack | unpack
opposite: fold | unfold
opposite: tie | untie
opposite: do | undo
opposite: wrap | unwrap
opposite: commit | rollback revert
opposite: upgrade | downgrade
opposite: update upgrade | downgrade
opposite: promote | demote
opposite: hire employ | fire dismiss sack
opposite: attack | defend
opposite: attack | protect
opposite: protect | harm damage endanger
opposite: help assist support aid | hinder hurt harm oppose
opposite: support back endorse | oppose
opposite: encourage recommend urge | discourage
opposite: recommended encouraged | discouraged
opposite: praise compliment | criticize blame insult
opposite: summarize praise | criticize
opposite: reward | punish
opposite: forgive | blame
opposite: trust | distrust suspect doubt
opposite: believe | doubt disbelieve
opposite: hope | despair fear
opposite: repair fix mend | break damage
opposite: work works worked working | broken break down
opposite: fix solve resolve | cause create
opposite: cure heal treat | cause
opposite: cause | effect result
opposite: cause | prevent cure
opposite: build built | destroy destroyed
opposite: float | sink
opposite: freeze | melt thaw
opposite: inhale | exhale
opposite: wake wake_up awake | sleep asleep fall_asleep
opposite: laugh smile | cry frown
opposite: sit | stand
opposite: lie_down | stand_up get_up
opposite: pick_up | put_down drop drop_off
opposite: speed_up accelerate | slow_down decelerate
opposite: zoom_in | zoom_out
opposite: check_in | check_out
opposite: put_on wear | take_off
opposite: take_off | land
opposite: turn_on | turn_down
opposite: opt_in | opt_out
opposite: scroll_up | scroll_down
opposite: attract | repel
opposite: expand enlarge zoom_in widen | collapse shrink narrow zoom_out
opposite: combine merge unite join | separate split divide
opposite: merge | split
opposite: gather collect | scatter distribute
opposite: simplify | complicate
opposite: begin | end
opposite: lead | follow
opposite: forward | reply
opposite: forward backup | rewind restore
opposite: archive | unarchive restore
opposite: pin | unpin
opposite: select check tick | deselect uncheck clear
opposite: ascending | descending
opposite: horizontal | vertical
opposite: vertical | horizontal
opposite: row | column
opposite: width | height
opposite: input | output
opposite: read | write
opposite: source origin | destination target
opposite: incoming inbound | outgoing outbound
opposite: upstream | downstream
opposite: clockwise | counterclockwise anticlockwise
opposite: odd | even
opposite: prime | composite
opposite: legal | illegal
opposite: theory theoretical | practice practical
opposite: abstract | concrete
opposite: general generic | specific particular
opposite: quantity | quality
opposite: urban city | rural countryside
opposite: indoor | outdoor
opposite: land | sea
opposite: heaven | hell
opposite: war | peace
opposite: liberal | conservative
opposite: democrat | republican
opposite: allow | deny
opposite: grant | revoke deny
opposite: issue | revoke
opposite: hard | soft
opposite: solid | liquid
opposite: male | female
opposite: vegetarian vegan | meat
opposite: optimistic | pessimistic
opposite: generous | greedy stingy selfish
opposite: honest truthful | dishonest deceitful lying
opposite: loyal faithful | disloyal unfaithful
opposite: patient | impatient
opposite: calm | nervous anxious agitated
opposite: proud | ashamed
opposite: humble modest | arrogant proud
opposite: mature | immature
opposite: formal | informal casual
opposite: ancient | modern
opposite: beautiful pretty attractive | ugly
opposite: interesting exciting | boring dull
opposite: useful | useless
opposite: valuable | worthless
opposite: asleep | awake
opposite: drunk | sober
opposite: guilty | innocent
opposite: vertical | horizontal
opposite: maximum | minimum
opposite: abundant plentiful ample | scarce insufficient
opposite: sufficient enough adequate | insufficient inadequate lacking short
opposite: excess surplus | shortage deficit
opposite: over above exceeding | under below
opposite: exceed | fall_below
opposite: older elder | younger
opposite: before | since
opposite: always constantly | never
opposite: often frequently usually regularly | rarely seldom infrequently
opposite: everything | nothing
opposite: everyone everybody | nobody no_one
opposite: everywhere | nowhere
opposite: somebody someone | nobody no_one
opposite: something | nothing
opposite: either | neither
opposite: both | neither
opposite: again | never
opposite: still | no_longer
opposite: widen | bridge narrow
opposite: participate join | boycott
opposite: recognize | ignore
opposite: continue keep | abandon give_up
opposite: retain keep | lose
opposite: tall | short
opposite: spicy hot | mild
opposite: asleep | awake
opposite: pregnant expecting | barren
opposite: dependent reliant | independent
opposite: part | independent
opposite: voluntary | involuntary forced
opposite: intentional deliberate | accidental unintentional
opposite: innocent | guilty
opposite: major | minor
opposite: primary main | secondary
opposite: core main | secondary peripheral
opposite: amateur | professional
opposite: virtual online | physical in_person
opposite: wired | wireless
opposite: digital | analog analogue
opposite: analog | digital
opposite: civilian | military
opposite: native | foreign
opposite: encouraged recommended advised | discouraged
opposite: overweight | underweight
opposite: overestimate | underestimate
opposite: overpriced | underpriced
opposite: overpaid | underpaid

# Each excludes the others.
apart: all every entirely wholly completely | some partly partially | none no | most
apart: all always | sometimes occasionally | never
apart: most | some | few
apart: many | few | none
apart: morning | noon midday | afternoon | evening | night midnight
apart: today | tomorrow | yesterday
apart: daily | weekly | monthly | yearly annually annual | hourly | quarterly
apart: breakfast | lunch | dinner supper
apart: spring | summer | autumn fall | winter
apart: small | medium | large
apart: red | orange | yellow | green | blue | purple violet | pink | brown | black | white | grey gray
apart: north | south | east | west
apart: gold golden | silver | bronze
apart: solid | liquid | gas
apart: century | decade | year | month | week | day | hour
apart: cat | dog | horse | cow | pig | bird | fish | rabbit | sheep
apart: car | bus | train | plane airplane aircraft | bicycle bike | ship boat | truck
apart: english | french | german | spanish | italian | russian | chinese | japanese | arabic | portuguese

# --- The same by another name
same: purchase buy bought purchased buying
same: start begin began begun commence
same: picture photo photograph image
same: phone telephone
same: film movie
same: doctor physician
same: kid child children kids
same: car automobile
same: email mail emails
same: error mistake
same: buddy friend
same: shop store
same: quick fast rapid quickly swiftly
same: large big huge
same: small little tiny
same: answer reply respond
same: fix repair
same: required necessary needed
same: begin started
same: make made makes making
same: feast festival
same: change modify alter edit
same: choose select pick
same: look_for search seek
same: speak talk
same: construct build built
same: aid assist
same: password passcode
same: price cost
same: job work
same: city town
same: road street
same: enterprise company firm
same: elder older
same: bank_card card
same: uk britain
same: tv television
same: ad advertisement advert
same: app application
same: info information
same: pc computer
same: lawyer attorney
same: taxi cab
same: trip journey
same: mobile cellphone
same: hotel inn
same: vacation holiday
same: restroom bathroom toilet
same: refund refunded
same: pants trousers
same: soccer football
same: sofa couch
same: rock stone
same: rubbish trash garbage
same: drug medicine medication
same: disease illness
same: go went goes gone going
same: come came comes
same: say said says
same: write wrote written
same: eat ate eaten
same: see saw seen
same: run ran
same: take took taken
same: give gave given
same: find found
same: send sent
same: pay paid
same: leave left
same: keep kept
same: lose lost
same: win won
same: choose chose chosen
same: fall fell fallen
same: rise rose risen
same: sell sold
same: know knew known
same: drive drove driven
same: teach taught
same: foot feet
same: man men
same: woman women
same: tooth teeth
same: mouse mice
same: person people persons

# --- Numbers
number 0: zero
perhaps 1: one once single
number 2: two twice
number 3: three thrice
number 4: four
number 5: five
number 6: six
number 7: seven
number 8: eight
number 9: nine
number 10: ten
number 11: eleven
number 12: twelve dozen
number 13: thirteen
number 14: fourteen
number 15: fifteen
number 16: sixteen
number 17: seventeen
number 18: eighteen
number 19: nineteen
number 20: twenty
number 30: thirty
number 40: forty fourty
number 50: fifty
number 60: sixty
number 70: seventy
number 80: eighty
number 90: ninety
perhaps 1: first
perhaps 2: second
perhaps 3: third
perhaps 4: fourth
perhaps 5: fifth
perhaps 6: sixth
perhaps 7: seventh
perhaps 8: eighth
perhaps 9: ninth
perhaps 10: tenth
perhaps 11: eleventh
perhaps 12: twelfth
perhaps 13: thirteenth
perhaps 14: fourteenth
perhaps 15: fifteenth
perhaps 16: sixteenth
perhaps 17: seventeenth
perhaps 18: eighteenth
perhaps 19: nineteenth
perhaps 20: twentieth
perhaps 30: thirtieth
scale 2: hundred hundreds
scale 3: thousand thousands
scale 6: million millions mn
scale 9: billion billions bn
scale 12: trillion trillions

day: monday mondays | tuesday tuesdays tues | wednesday wednesdays | thursday thursdays thurs | friday fridays | saturday saturdays | sunday sundays
month: january jan | february feb | march mar | april apr | may | june jun | july jul | august aug | september sep sept | october oct | november nov | december dec
maybe: may march mar jan jun jul sep sept oct nov dec aug apr feb

# A unit's name, and its power of ten.
unit am 0: am am. in_the_morning
unit pm 0: pm pm. in_the_evening in_the_afternoon at_night tonight
unit meter 0: m meter meters metre metres
unit meter 3: km kms kilometer kilometers kilometre kilometres
unit meter -2: cm centimeter centimeters centimetre centimetres
unit meter -3: mm millimeter millimeters millimetre millimetres
unit mile 0: mile miles mi
unit foot 0: ft foot feet
unit inch 0: inch inches
unit yard 0: yd yard yards
unit gram 0: g gram grams gramme grammes
unit gram 3: kg kgs kilo kilos kilogram kilograms
unit gram -3: mg milligram milligrams
unit gram -6: mcg ug microgram micrograms
unit tonne 0: ton tons tonne tonnes
unit pound 0: lb lbs
unit pound 0: pound pounds
unit ounce 0: oz ounce ounces
unit liter 0: l liter liters litre litres
unit liter -3: ml milliliter milliliters millilitre millilitres
unit gallon 0: gallon gallons gal
unit cup 0: cup cups
unit spoon 0: tablespoon tablespoons tbsp
unit teaspoon 0: teaspoon teaspoons tsp
unit second 0: s sec secs second seconds
unit second -3: ms millisecond milliseconds
unit second -6: us microsecond microseconds
unit second -9: ns nanosecond nanoseconds
unit minute 0: min mins minute minutes
unit hour 0: h hr hrs hour hours
unit days 0: day days
unit week 0: week weeks wk
unit months 0: month months
unit year 0: year years yr yrs
unit century 0: century centuries
unit percent 0: % percent pct percentage
unit dollar 0: $ dollar dollars usd bucks
unit euro 0: eur euro euros
unit sterling 0: gbp quid
unit yen 0: jpy yen
unit rupee 0: inr rupee rupees rs
unit yuan 0: cny yuan rmb
unit cent 0: cent cents
unit byte 0: b byte bytes
unit byte 3: kb kilobyte kilobytes
unit byte 6: mb megabyte megabytes
unit byte 9: gb gigabyte gigabytes
unit byte 12: tb terabyte terabytes
unit bit 0: bit bits
unit hertz 0: hz hertz
unit hertz 3: khz
unit hertz 6: mhz
unit hertz 9: ghz
unit watt 0: w watt watts
unit watt 3: kw kilowatt kilowatts
unit watt 6: mw megawatt megawatts
unit watt 9: gw gigawatt gigawatts
unit volt 0: v volt volts
unit ampere 0: amp amps ampere amperes
unit celsius 0: celsius centigrade degree_celsius degree_c degrees_celsius
unit fahrenheit 0: fahrenheit degree_fahrenheit degree_f degrees_fahrenheit
unit degree 0: degree degrees
unit kmh 0: kph kmh
unit mph 0: mph
unit calorie 0: cal calorie calories
unit calorie 3: kcal
unit acre 0: acre acres
unit hectare 0: ha hectare hectares
unit pixel 0: px pixel pixels
unit times 0: times

# --- What words are made with
prefix 3: un non dis im il ir
prefix 4: in mis
prefix 5: de anti counter
pair 3: up | down
pair 3: over | under
pair 3: in | out
pair 3: in | ex
pair 3: im | ex
pair 3: inter | intra
pair 3: pre | post
pair 3: hyper | hypo
pair 3: macro | micro
pair 3: pro | anti
pair 4: in | de
pair 4: en | de
pair 4: en | dis
pair 4: ac | de
pair 4: at | de
pair 4: as | de
pair 3: fore | hind
pair 3: north | south
pair 3: east | west
ending: ful | less
)table";

}  // namespace

std::string_view english_guard_table() noexcept {
  return kTable;
}

}  // namespace dpcache::text
